"""A decision that was made, as whoever asks a policy keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.kinds.policy import Policy
from policyengine.rules.decision import Decision


@dataclass(frozen=True, slots=True)
class Made:
    """One decision that was made: by which policy, on which input (which must not be changed afterwards)."""

    policy: Policy
    input: Mapping[str, Any]
    decision: Decision
