"""Breaker: when a path stops trying, and how it recovers. State comes in with the input and goes out."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Breaker",
    "When a path stops trying, and how it recovers",
    plain.build,
    {"breaker": "open", "rescue": "exhausted"},
)
