"""CompressionTriggers: whether a session is worth compressing before the ladder demands it, and why."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "CompressionTriggers",
    "Whether to compress before the ladder demands it",
    plain.build,
    {"compress": False, "trigger": None, "reason": "error"},
)
