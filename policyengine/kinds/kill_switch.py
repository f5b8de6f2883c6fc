"""KillSwitch: when fast routing is turned off."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "KillSwitch",
    "When fast routing is turned off",
    plain.build,
    {"fast": False, "reason": "error"},
)
