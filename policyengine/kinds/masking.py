"""Masking: which fields of a decision are written to the log, hashed, or left out."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind("Masking", "What of a decision is written to the log", plain.build, {"treatment": "drop"})
