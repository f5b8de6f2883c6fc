"""CompactionResult: what became of a compaction. Only an accepted summary replaces the history."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind("CompactionResult", "What became of a compaction", plain.build, {"result": "error"})
