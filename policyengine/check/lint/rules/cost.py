"""The expression may take too many steps."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="cost",
    title="The expression may take too many steps",
    why="""\
A decision is made before every send; an expression that walks over lists inside lists could stall the loop.
""",
    bad="""\
when: batch.exists(a, batch.exists(b, batch.exists(c, a.name == c.name)))
""",
    good="""\
when: batch.exists(call, call.error)
""",
    fixed=True,
)
