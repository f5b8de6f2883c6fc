"""Placeholder, replaced by its first module."""
