"""A field is asked of a value that has none."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="no-fields",
    title="A field is asked of a value that has none",
    why="""\
Numbers, texts and the like have no fields.
""",
    bad="""\
when: tokens.count > 100
""",
    good="""\
when: tokens > 100
""",
    fixed=True,
)
