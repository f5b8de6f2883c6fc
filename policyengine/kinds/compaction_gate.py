"""CompactionGate: whether a compaction runs before a send."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "CompactionGate",
    "Whether a compaction runs before a send",
    plain.build,
    {"compact": False, "reason": "error"},
)
