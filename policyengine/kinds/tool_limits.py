"""ToolLimits: how long a tool may run, and how much of its output the history takes."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "ToolLimits",
    "How long a tool may run and how much it may give back",
    plain.build,
)
