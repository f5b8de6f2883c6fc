"""The operands of an operator or function do not fit."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="operands",
    title="The operands of an operator or function do not fit",
    why="""\
CEL does not convert between types: an int is no double, a text is no number.
""",
    bad="""\
when: tokens >= "100"
""",
    good="""\
when: tokens >= 100
""",
    fixed=True,
)
