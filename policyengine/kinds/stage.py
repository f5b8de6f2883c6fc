"""Stage: which stage of a rollout comes next, by measured metrics."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Stage",
    "Which stage of a rollout comes next",
    plain.build,
    {"stage": "rollback", "move": "rollback", "verdict": "fail", "fast": "off", "reason": "error"},
    several=True,
)
