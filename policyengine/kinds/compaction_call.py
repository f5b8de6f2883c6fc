"""CompactionCall: how much a compaction call may write, and whether it can be made at all."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "CompactionCall",
    "How much a compaction call may write",
    plain.build,
    {"call": False, "max_output_tokens": None, "thinking": "off", "reason": "error"},
)
