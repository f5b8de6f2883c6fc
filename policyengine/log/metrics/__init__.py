"""The metrics of decision logs: counted once, defined once."""
