"""Decision records: what was decided, on what, by which policy of which bundle, and why."""
