"""SummaryPlan: what a compaction summarises, and with which words."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "SummaryPlan",
    "What a compaction summarises and with which words",
    plain.build,
)
