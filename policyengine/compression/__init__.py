"""Compression: what a compaction keeps, how it is written, and how well it kept it.

The artefact index is made from the tool calls themselves. A method (anchored, regenerative, opaque, extractive)
turns the cut span into a summary beside it; probes with known answers score any summary.
"""
