"""The expression calls a function that does not exist."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="unknown-function",
    title="The expression calls a function that does not exist",
    why="""\
CEL has no such function, or not for values of these types; it would fail at every decision.
""",
    bad="""\
when: prompt.beginsWith("fix")
""",
    good="""\
when: prompt.startsWith("fix")
""",
    fixed=True,
)
