"""Presentation: what a person sees and may do while a turn runs."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Presentation",
    "What a person sees and may do while a turn runs",
    plain.build,
    {"state": "responding", "accepts_message": False, "discard": False, "suggestions": False},
)
