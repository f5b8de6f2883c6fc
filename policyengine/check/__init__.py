"""Checking policies: lint, policy tests, proofs, diffs, and replays on real sessions."""
