"""The expression names something that is not there."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="unknown-name",
    title="The expression names something that is not there",
    why="""\
Only inputs of the policy's kind, its constants and the derived values above can be named.
""",
    bad="""\
when: tokns >= auto
""",
    good="""\
when: tokens >= auto
""",
    fixed=True,
)
