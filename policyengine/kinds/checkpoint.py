"""Checkpoint: what to work on next, by measured metrics."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Checkpoint",
    "What to work on next, by measured metrics",
    plain.build,
    {"verdict": "not_enough_data", "reason": "error"},
    several=True,
)
