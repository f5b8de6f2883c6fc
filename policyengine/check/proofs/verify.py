"""Every claim of the policies of a bundle, decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from policyengine.check.proofs.ladder import LadderProof
from policyengine.check.proofs.results import Report, Result
from policyengine.check.proofs.tables import TableProof
from policyengine.kinds.policy import Policy
from policyengine.source.errors import MissingExtraError

TIMEOUT_MS = 10_000
"""Longest time for one question to the solver."""


def verify(
    policies: Iterable[Policy], timeout_ms: int = TIMEOUT_MS, progress: Callable[[str], None] | None = None
) -> Report:
    """Decide every claim. Ladders need no solver; without one, what is left undone is told in `missing`."""
    results: list[Result] = []
    missing: dict[str, list[str]] = {}
    for policy in policies:
        if progress is not None:
            progress(policy.name)
        if policy.kind.name == "Ladder":
            results.extend(LadderProof(policy).results())
            continue
        try:
            results.extend(TableProof(policy, timeout_ms).results())
        except MissingExtraError as error:
            missing.setdefault(str(error), []).append(policy.name)
    return Report(tuple(results), tuple(f"{why} ({', '.join(names)})" for why, names in missing.items()))
