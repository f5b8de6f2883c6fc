"""Measurements: `python -m tests.bench` prints one table, from one run."""
