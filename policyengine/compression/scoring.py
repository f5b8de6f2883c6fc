"""Scoring a summary by probes: what it states, held against what is known. No judge, and no overlap of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policyengine.compression.probing import Probe, Probes
from policyengine.compression.stated import Stated, Vocabulary, stated
from policyengine.compression.summary import identity_of
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.made import Made

DIMENSIONS = (
    "accuracy", "context_awareness", "artefact_trail", "completeness", "continuity", "instruction_following",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    """A probe and its figures, each from 0 to 1. `precision` is None where nothing was stated that could be wrong.

    `missing` is what a right answer names and the summary does not.
    """

    probe: Probe
    score: float
    precision: float | None
    recall: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """All of it. `dimensions` run from 0 to the policy's scale; None where no probe asks for one.

    `strangers` are what looks like a path in the summary and occurs nowhere in the history.
    """

    probes: tuple[Scored, ...]
    dimensions: Mapping[str, float | None]
    mean: float
    verdict: str
    strangers: tuple[str, ...]
    made: Made


def score(
    bundle: Bundle, probes: Probes, summary: str, files: Sequence[str], words: Vocabulary, history: str = ""
) -> Score:
    """Score a summary. `files` are all paths of the index; `history` is the text in which a strange path may stand."""
    policy = bundle.serving("Probes")
    found = stated(summary, files, words)
    strangers = tuple(sorted(path for path in found.strangers if path not in history))
    haystack = _Haystack(summary)
    scored = tuple(_scored(probe, found, haystack, len(strangers)) for probe in probes.probes)
    dimensions = _dimensions(policy.spec, scored)
    known = [value for value in dimensions.values() if value is not None]
    mean = sum(known) / len(known) if known else 0.0
    given: dict[str, Any] = {"probes": len(scored), "mean": mean, **dimensions}
    decision = policy.decide(given)
    made = Made(policy, given, decision)
    return Score(scored, dimensions, mean, decision.outcome["verdict"], strangers, made)


def _scored(probe: Probe, found: Stated, haystack: _Haystack, strangers: int) -> Scored:
    if probe.claim is None:
        missing = tuple(fact for fact in probe.facts if not haystack.states(fact, whole=probe.whole))
        share = 1 - len(missing) / len(probe.facts)
        return Scored(probe, share, None, share, missing)
    truth = frozenset(probe.files)
    said: frozenset[str] = getattr(found, probe.claim)
    # A file that is named without a word about it counts as found, not as wrongly stated.
    neutral = found.named - found.changed - found.read if probe.claim == "changed" else frozenset()
    missing = tuple(path for path in probe.files if path not in said and path not in neutral)
    recall = 1 - len(missing) / len(truth)
    if probe.claim == "current":
        return Scored(probe, recall, None, recall, missing)
    wrong = len(said - truth) + (strangers if probe.claim == "changed" else 0)
    right = len(said & truth)
    precision = right / (right + wrong) if right + wrong else None
    exact = precision if precision is not None else (1.0 if recall else 0.0)
    both = 2 * exact * recall / (exact + recall) if exact + recall else 0.0
    return Scored(probe, both, precision, recall, missing)


def _dimensions(spec: Mapping[str, Any], scored: Sequence[Scored]) -> dict[str, float | None]:
    sums: dict[str, float] = dict.fromkeys(DIMENSIONS, 0.0)
    weights: dict[str, float] = dict.fromkeys(DIMENSIONS, 0.0)
    numbers: dict[str, int] = {}
    for row in scored:
        numbers[row.probe.id] = numbers.get(row.probe.id, 0) + 1
    for row in scored:
        for name, weight in spec["kinds"][row.probe.id]["dimensions"].items():
            value = getattr(row, spec["measures"].get(name, "score"))
            value = row.score if value is None else value
            # However many probes of one id there are, together they weigh what the policy says.
            share = weight / numbers[row.probe.id]
            sums[name] += value * share
            weights[name] += share
    scale = spec["scale"]
    return {name: scale * sums[name] / weights[name] if weights[name] else None for name in DIMENSIONS}


class _Haystack:
    """A text in which facts are looked for."""

    def __init__(self, text: str) -> None:
        self.text = text.casefold()
        self.identity = identity_of(text)

    def states(self, fact: str, *, whole: bool) -> bool:
        """Whether the fact stands here by itself, and not inside a longer name."""
        if whole:
            return identity_of(fact) in self.identity
        fact = fact.casefold()
        at = self.text.find(fact)
        while at >= 0:
            before = self.text[at - 1 : at]
            after = self.text[at + len(fact) : at + len(fact) + 1]
            if not (_goes_on(before) and _goes_on(fact[:1])) and not (_goes_on(after) and _goes_on(fact[-1:])):
                return True
            at = self.text.find(fact, at + 1)
        return False


def _goes_on(char: str) -> bool:
    return bool(char) and (char.isalnum() or char == "_") and char.isascii()
