"""A field that may be missing is read without asking for it."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="optional-field",
    title="A field that may be missing is read without asking for it",
    why="""\
Reading a field that is not there is an error, and the policy then gives its `on_error` outcome.
""",
    bad="""\
when: input.budget > 100
""",
    good="""\
when: has(input.budget) && input.budget > 100
""",
    fixed=True,
)
