"""One module per policy kind, and the bundle they make together."""
