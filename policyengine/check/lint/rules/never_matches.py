"""A rule whose condition no input can fulfil."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.conditions import UndecidedError
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.tables import hand_written, when_place


def check(context: Context) -> Iterator[Hit]:
    """Rules of every table that a person wrote."""
    for policy in hand_written(context):
        formulas = context.formulas(policy)
        for rule in policy.table.rules:
            try:
                possible = formulas.satisfy([formulas.conditions[rule.id]]) is not None
            except UndecidedError:
                break  # the questions about this table have used up what they may take
            if not possible:
                message = f"the condition of `{rule.id}` contradicts itself: no input fulfils it"
                yield Hit(when_place(policy, rule), message, "correct the condition, or remove the rule")


RULE = Rule(
    code="never-matches",
    title="No input fulfils the condition",
    why="""\
A condition that contradicts itself, or the schema of the input, makes a rule that decides nothing. A comparison
between constants is not counted: that is a switch, which may be off.
""",
    bad="""\
when: tokens > 5000 && tokens < 1000
""",
    good="""\
when: tokens > 1000 && tokens < 5000
""",
    check=check,
)
