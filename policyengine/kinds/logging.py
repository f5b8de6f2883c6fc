"""Logging: what the log does when it cannot keep up or cannot be written, and how large its parts are."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "Logging",
    "What the log does when it cannot keep up or cannot be written",
    plain.build,
    {"action": "drop"},
)
