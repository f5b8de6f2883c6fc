"""Prevalidation: whether a tool call's check starts before the stream ends."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Prevalidation",
    "Whether a tool call's check starts before the stream ends",
    plain.build,
    {"start": False, "reason": "error"},
)
