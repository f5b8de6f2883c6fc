"""A rule that is never reached, because rules above it take every input that it would match."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.conditions import Formula, Formulas, UndecidedError
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.tables import hand_written, when_place
from policyengine.rules.table import HitPolicy


def check(context: Context) -> Iterator[Hit]:
    """Rules of first-hit tables."""
    for policy in hand_written(context):
        if policy.table.hit is not HitPolicy.FIRST:
            continue
        formulas = context.formulas(policy)
        above: list[tuple[str, Formula]] = []
        for rule in policy.table.rules:
            own = formulas.conditions[rule.id]
            if rule.when is not None or (above[-1:] and above[-1][1] is True):
                culprit = _shadowed_by(formulas, own, above)
                if culprit is not None:
                    message = f"the rule `{rule.id}` is never reached: {culprit} every input that it would match"
                    yield Hit(when_place(policy, rule), message, "move it up, narrow the rule above it, or remove it")
            above.append((rule.id, own))


def _shadowed_by(formulas: Formulas, own: Formula, above: list[tuple[str, Formula]]) -> str | None:
    """Who takes the rule's inputs, in words; None where somebody leaves it some, or where that is not known."""
    try:
        if formulas.satisfy([own]) is None or formulas.satisfy([own], [one for _, one in above]) is not None:
            return None
        for name, one in above:
            if formulas.satisfy([own], [one]) is None:
                return f"`{name}` above it matches"
    except UndecidedError:
        return None
    return "the rules above it together match"


RULE = Rule(
    code="shadowed-rule",
    title="A rule is never reached",
    why="""\
The first matching rule decides. A rule whose every input is taken by rules above it looks as if it were in force and
decides nothing. Found only where it is certain: conditions are compared over every value that their terms can take.
""",
    bad="""\
rules:
  - {id: large, when: tokens > 1000, outcome: {result: large}}
  - {id: huge, when: tokens > 100000, outcome: {result: huge}}
""",
    good="""\
rules:
  - {id: huge, when: tokens > 100000, outcome: {result: huge}}
  - {id: large, when: tokens > 1000, outcome: {result: large}}
""",
    check=check,
)
