"""Proofs: what holds for every input that a schema allows, and an example where it does not."""
