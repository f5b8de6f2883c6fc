"""Deciding recorded inputs again, by another bundle: here on all cores, or on a Ray cluster."""
