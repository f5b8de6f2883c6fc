"""TokenEstimate: how large the next prompt is taken to be."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "TokenEstimate",
    "How large the next prompt is taken to be",
    plain.build,
    {"tokens": None, "tokens_source": "unknown"},
)
