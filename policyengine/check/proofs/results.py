"""What a proof came to: data that every renderer prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from policyengine.check.proofs.ranges import Ranges
from policyengine.source.place import Place


class Verdict(StrEnum):
    """What is known about a claim."""

    PROVEN = "proven"
    """It holds for every input that the schema allows (within the claim's own domain)."""
    REFUTED = "refuted"
    """It fails for an input that is shown and that the engine has confirmed."""
    ACCEPTED = "accepted"
    """It fails, where and only where the owner has said so, with a reason; everywhere else it is proven."""
    UNDECIDED = "not decided"
    """Neither could be shown."""


@dataclass(frozen=True, slots=True)
class Example:
    """One concrete input, and what was seen on it: values by name, computed by the engine."""

    input: Mapping[str, Any]
    seen: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One claim about one policy, and what became of it.

    - `claim`: the claim as an expression or in words; `domain`: the inputs for which it is made, None for all.
    - `detail`: one line: why it is refuted or not decided.
    - `examples`: where it fails; for a proof that something can happen, where it does.
    - `fails`, `holds`: for ladders, the windows at which it fails and at which it is proven.
    - `reason`: the owner's, where a refutation is accepted; `accepted`: the domain the owner accepted.
    - `assumes`: what the verdict rests on beside the schema.
    """

    policy: str
    id: str
    title: str
    claim: str
    verdict: Verdict
    place: Place
    built_in: bool = False
    detail: str = ""
    domain: str | None = None
    examples: tuple[Example, ...] = ()
    fails: Ranges | None = None
    holds: Ranges | None = None
    reason: str | None = None
    accepted: str | None = None
    assumes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it makes `verify` fail."""
        return self.verdict is Verdict.REFUTED


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one run, policy by policy; `missing` says what could not be run, and why."""

    results: tuple[Result, ...]
    missing: tuple[str, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """How many claims came to a verdict."""
        return sum(result.verdict is verdict for result in self.results)
