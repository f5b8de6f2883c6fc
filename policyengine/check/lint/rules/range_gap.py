"""An input that no rule matches, in a table that says nothing about that case."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.conditions import UndecidedError
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.rules.range_overlap import trial_input
from policyengine.check.lint.tables import hand_written
from policyengine.kinds.policy import Policy
from policyengine.rules.table import HitPolicy
from policyengine.source.schema import fits

_RANKS = {"warn": 0, "auto": 1, "hard": 2}


def check(context: Context) -> Iterator[Hit]:
    """Tables without a default, and tips."""
    for policy in hand_written(context):
        spec = policy.spec
        if "rules" in spec and "default" not in spec and policy.table.hit is not HitPolicy.COLLECT:
            yield from _undecided(context, policy)
    for policy in context.policies_of("Tips"):
        yield from _tips(policy)


def _undecided(context: Context, policy: Policy) -> Iterator[Hit]:
    formulas = context.formulas(policy)
    try:
        found = formulas.satisfy([], formulas.conditions.values())
    except UndecidedError:
        return
    input = trial_input(policy, found) if found is not None else None
    if input is None or not fits(input, policy.input_schema):
        return
    decision = policy.compiled.decide_once(input)
    if decision.rules or decision.errors:
        return
    shown = ", ".join(f"{name} {value!r}" for name, value in input.items() if not isinstance(value, dict | list))
    message = f"no rule matches, for example, {shown}, and there is no default"
    place = policy.document.key_place(("spec", "rules"))
    yield Hit(place, message, "add a default:, or a rule for what is left")


def _tips(policy: Policy) -> Iterator[Hit]:
    """Ranks from the lowest tip up that no tip covers; a condition of a tip is no gap."""
    tips = policy.spec["tips"]
    spans = [(_RANKS[tip["from"]], _RANKS.get(tip.get("below"), len(_RANKS))) for tip in tips]
    names = [*_RANKS, None]
    for rank in range(min(start for start, _ in spans), len(_RANKS)):
        if any(start <= rank < end for start, end in spans):
            continue
        before = max((index for index, (_, end) in enumerate(spans) if end == rank), default=None)
        if before is None:  # a wider gap, told where it begins
            continue
        upto = min((start for start, _ in spans if start > rank), default=len(_RANKS))
        until = f" and `{names[upto]}`" if names[upto] else " and the end"
        message = f"no tip is shown between `{names[rank]}`{until}"
        place = policy.document.place(("spec", "tips", before, "below"))
        yield Hit(place, message, f"end `{tips[before]['id']}` later, or begin another tip at `{names[rank]}`")


RULE = Rule(
    code="range-gap",
    title="An input that no rule matches",
    why="""\
A table of ranges should leave nothing between them. Where no rule matches and there is no default, the outcome is
empty and whoever asked has to guess. The input in the message was tried: nothing matches it.
""",
    bad="""\
tips:
  - {id: getting-long, from: warn, below: auto, text: ...}
  - {id: full, from: hard, text: ...}      # nothing from auto to hard
""",
    good="""\
tips:
  - {id: getting-long, from: warn, below: hard, text: ...}
  - {id: full, from: hard, text: ...}
""",
    check=check,
)
