"""Retry: what follows a failed model call."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Retry",
    "What follows a failed model call",
    plain.build,
    {"action": "give_up", "delay_ms": 0, "fallback_reason": None, "reason": "error"},
)
