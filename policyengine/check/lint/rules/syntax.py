"""The expression cannot be read."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="syntax",
    title="The expression cannot be read",
    why="""\
A rule whose condition is no CEL expression decides nothing.
""",
    bad="""\
when: tokens >= auto and forced
""",
    good="""\
when: tokens >= auto && forced
""",
    fixed=True,
)
