"""Gate: whether something may be switched on, or has to be switched off, by measured metrics."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Gate",
    "Whether something may be switched on, or has to be switched off",
    plain.build,
    {"verdict": "not_enough_data", "reason": "error"},
    several=True,
)
