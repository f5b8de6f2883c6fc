"""CompressionMethod: how a history is summarised, over what is known of the session."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "CompressionMethod",
    "How a history is summarised",
    plain.build,
    {"method": "anchored", "reason": "error"},
)
