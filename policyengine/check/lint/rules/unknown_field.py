"""The expression asks for a field that the value does not have."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="unknown-field",
    title="The expression asks for a field that the value does not have",
    why="""\
The input's schema lists every field; reading another one fails at every decision.
""",
    bad="""\
when: batch.exists(call, call.eror)
""",
    good="""\
when: batch.exists(call, call.error)
""",
    fixed=True,
)
