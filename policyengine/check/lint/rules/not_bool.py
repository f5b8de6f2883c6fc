"""A condition is not true or false."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="not-bool",
    title="A condition is not true or false",
    why="""\
`when`, and the operands of `&&`, `||` and `!`, have to be bool; CEL has no truthy values.
""",
    bad="""\
when: batch.size()
""",
    good="""\
when: batch.size() > 0
""",
    fixed=True,
)
