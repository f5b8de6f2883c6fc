"""A decision log as one page with charts, which asks nothing of a network."""
