"""SummaryRound: what makes the round after a batch cheaper."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "SummaryRound",
    "What makes the round after a batch cheaper",
    plain.build,
    {"tool_choice": "auto", "thinking": "default", "instruction": None, "reason": "error"},
)
