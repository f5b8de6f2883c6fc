"""Two rules match one input where only one may."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any

from policyengine.cel import CelError, Program
from policyengine.check.lint.conditions import Term, UndecidedError, inputs_of
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.tables import sample, when_place
from policyengine.kinds.policy import Policy
from policyengine.rules.exact import DerivedValues
from policyengine.rules.table import HitPolicy
from policyengine.rules.table import Rule as Row


def check(context: Context) -> Iterator[Hit]:
    """Tables with hit policy `unique`, tips among them; each overlap is shown on an input and was tried out."""
    for policy in context.policies.values():
        if policy.table.hit is not HitPolicy.UNIQUE:
            continue
        yield from _overlaps(context, policy)


def _overlaps(context: Context, policy: Policy) -> Iterator[Hit]:
    told: set[str] = set()
    with suppress(UndecidedError):  # the questions about this table have used up what they may take
        rows = zip(policy.table.rules, policy.compiled.programs.conditions, strict=True)
        for (one, first), (two, second) in combinations(rows, 2):
            if two.id not in told and (input := _both(context, policy, (one, first), (two, second))) is not None:
                told.add(two.id)
                shown = ", ".join(f"{name} {value!r}" for name, value in input.items() if not isinstance(value, dict))
                message = f"`{one.id}` and `{two.id}` both match, for example {shown}"
                yield Hit(when_place(policy, two), message, "let one end where the other begins")


def _both(
    context: Context, policy: Policy, one: tuple[Row, Program | None], two: tuple[Row, Program | None]
) -> dict[str, Any] | None:
    """An input that both rules match. It was tried, so there is one; that none is found does not mean that none is."""
    formulas = context.formulas(policy)
    found = formulas.satisfy([formulas.conditions[one[0].id], formulas.conditions[two[0].id]])
    if found is None:
        return None
    for input in _trials(policy, found):
        values = DerivedValues(policy.compiled.programs.derived, input)
        if _holds(one[1], values) and _holds(two[1], values):
            return input
    return None


def _holds(condition: Program | None, values: DerivedValues) -> bool:
    try:
        return condition is None or condition.evaluate(values.input, values) is True
    except CelError:
        return False


def _trials(policy: Policy, found: dict[Term, Any]) -> Iterator[dict[str, Any]]:
    input = trial_input(policy, found)
    if input is None:
        return
    yield input
    if policy.kind.name == "Tips":
        # What the formulas see of a tip is how counts compare with thresholds worked out elsewhere: try each of them.
        for name in ("warn", "auto", "hard"):
            for prompts in (0, 1_000):
                yield {**input, **_EXAMPLE, "tokens": _EXAMPLE[name], "session_prompt_count": prompts}


_EXAMPLE = {"warn": 100, "auto": 200, "hard": 300, "window": 1_000, "shown": None}


def trial_input(policy: Policy, found: Mapping[Term, Any]) -> dict[str, Any] | None:
    """An input of the policy with the values that an assignment gives; None where it cannot be built."""
    base = sample(policy.input_schema)
    return _with(base, inputs_of(found)) if isinstance(base, dict) else None


def _with(base: dict[str, Any], values: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    input = copy.deepcopy(base)
    for path, value in values.items():
        at = input
        for step in path[:-1]:
            at = at.setdefault(step, {})
            if not isinstance(at, dict):
                return input
        at[path[-1]] = value
    return input


RULE = Rule(
    code="range-overlap",
    title="Two rules match one input where only one may",
    why="""\
Tips, checkpoints and other tables with `hit: unique` decide by one rule. Where two match, the policy gives its
`on_error` outcome. The input in the message was tried: it does match both.
""",
    bad="""\
hit: unique
rules:
  - {id: low, when: share < 0.5, outcome: {action: audit}}
  - {id: high, when: share >= 0.4, outcome: {action: keep}}
""",
    good="""\
hit: unique
rules:
  - {id: low, when: share < 0.5, outcome: {action: audit}}
  - {id: high, when: share >= 0.5, outcome: {action: keep}}
""",
    check=check,
)
