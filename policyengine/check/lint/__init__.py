"""Lint: what is wrong or doubtful in a bundle, and changes that repair it. One rule a module under `rules/`."""
