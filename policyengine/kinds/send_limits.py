"""SendLimits: how long a model call may take, and how much it may write."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "SendLimits",
    "How long a model call may take and how much it may write",
    plain.build,
)
