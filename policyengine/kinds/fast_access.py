"""FastAccess: who may use the fast model now. Stage, kill switch, a person's word and a rate limit meet here."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind(
    "FastAccess",
    "Who may use the fast model now",
    plain.build,
    {"allowed": False, "reason": "error"},
)
