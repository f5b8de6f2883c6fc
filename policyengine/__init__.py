"""Declarative policy for LLM agent loops."""
