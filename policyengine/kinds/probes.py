"""Probes: what is asked of a summary, and how its answers make the scores of six dimensions."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind("Probes", "What a summary is asked, and what its scores mean", plain.build, {"verdict": "unknown"})
