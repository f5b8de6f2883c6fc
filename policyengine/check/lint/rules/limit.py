"""The expression is larger than the evaluator takes."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="limit",
    title="The expression is larger than the evaluator takes",
    why="""\
Expressions have bounds on length, nesting and cost, so that no policy can stall an agent.
""",
    bad="""\
when: "((((((( ... 100 levels of brackets ... )))))))"
""",
    good="""\
when: tokens >= auto
""",
    fixed=True,
)
