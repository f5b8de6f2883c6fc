"""Diff: what changed between two bundles in words, and what that does to decisions."""
