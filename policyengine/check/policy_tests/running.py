"""Runs cases: builds each input, asks the policy, and compares what it decided with what it should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policyengine.check.policy_tests.inputs import CLOCK, build
from policyengine.check.policy_tests.model import DEFAULT, ON_ERROR, Expected, TestCase, TestStep
from policyengine.check.policy_tests.recordings import Recordings
from policyengine.check.policy_tests.subjects import Subjects
from policyengine.rules.decision import Decision


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that came out otherwise than expected; `field` is a decided field, `rule` or `errors`."""

    field: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step that was run."""

    step: TestStep
    decision: Decision
    mismatches: tuple[Mismatch, ...]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A case that was run: its steps up to and including the first that failed."""

    case: TestCase
    steps: tuple[StepResult, ...]

    @property
    def passed(self) -> bool:
        """Whether everything came out as expected."""
        return not self.steps[-1].mismatches

    @property
    def failed_step(self) -> int | None:
        """The number of the step that failed, from 1."""
        return None if self.passed else len(self.steps)


ABSENT = "(absent)"
"""Stands for a decided field that is not there."""


def run_case(case: TestCase, bundle: Subjects, recordings: Recordings, *, trace: bool = True) -> CaseResult:
    """Run one case that has been checked. `trace` keeps why each decision was made."""
    folder = Path(case.document.file).parent
    results: list[StepResult] = []
    carried: dict[str, Any] = {}
    clock: int | None = None
    for step in case.steps:
        replaced = (case.constants, case.variant) if step.policy == case.policy else (None, None)
        policy = bundle.policy(step.policy, *replaced)
        properties: Mapping[str, Any] = policy.input_schema.get("properties", {})
        if clock is not None:
            clock += step.after_ms
        given = build(step, properties, lambda one: recordings.input(one, folder), carried, clock)
        if len(case.steps) > 1 and CLOCK in properties and isinstance(given.get(CLOCK), int):
            clock = given[CLOCK] + (step.after_ms if clock is None else 0)
            given[CLOCK] = clock
        decision = policy.decide(given, trace=trace)
        results.append(StepResult(step, decision, tuple(_mismatches(step.expected, decision))))
        if results[-1].mismatches:
            break
        if len(case.steps) > 1:
            carried |= decision.outcome
            carried |= {
                taker: decision.outcome[giver] for taker, giver in case.carry.items() if giver in decision.outcome
            }
    return CaseResult(case, tuple(results))


def rules_of(decision: Decision) -> tuple[str, ...]:
    """The rules that decided, as a test names them."""
    return decision.rules or ((ON_ERROR,) if decision.errors else (DEFAULT,))


def _mismatches(expected: Expected, decision: Decision) -> Sequence[Mismatch]:
    found = []
    for name, value in (expected.fields or {}).items():
        actual = decision.outcome.get(name, ABSENT)
        if not agrees(value, actual):
            found.append(Mismatch(name, value, actual))
    if expected.rules is not None and expected.rules != rules_of(decision):
        found.append(Mismatch("rule", list(expected.rules), list(rules_of(decision))))
    errors = [f"{error.where}: {error.message}" for error in decision.errors]
    missing = [piece for piece in expected.errors if not any(piece in error for error in errors)]
    unexpected = [error for error in errors if not any(piece in error for piece in expected.errors)]
    if missing or unexpected:
        found.append(Mismatch("errors", list(expected.errors), errors))
    return found


def agrees(expected: Any, actual: Any) -> bool:
    """Whether `actual` is what was expected: mappings may hold more, lists are as long and in the same order.

    Numbers agree by value, whatever their type; true and false are no numbers.
    """
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and agrees(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list | tuple) and len(expected) == len(actual) and all(map(agrees, expected, actual))
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)
