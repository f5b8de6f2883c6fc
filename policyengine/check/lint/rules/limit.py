"""The expression is larger than the evaluator takes."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

_LEVELS = 100

RULE = Rule(
    code="limit",
    title="The expression is larger than the evaluator takes",
    why="""\
Expressions have bounds on length, nesting and number of parts, so that no policy can stall an agent. Words belong into
word lists, and a part that has a meaning of its own gets a name under `derived`.
""",
    bad=f"""\
when: {"(" * _LEVELS}tokens >= auto{")" * _LEVELS}
""",
    good="""\
when: tokens >= auto
""",
    fixed=True,
)
