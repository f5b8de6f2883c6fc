"""HistoryRepair: how a history is made acceptable to a provider."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "HistoryRepair",
    "How a history is made acceptable",
    plain.build,
    {"gap": "inject_empty_assistant", "orphan_call": "answer_cancelled", "orphan_result": "drop"},
)
