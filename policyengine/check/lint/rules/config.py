"""The configuration of lint is wrong."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="config",
    title="The configuration of lint is wrong",
    why="""\
A misspelt rule in the configuration would leave a rule at its default without anybody noticing.
""",
    bad="""\
[lint.rules]
mising-owner = "off"
""",
    good="""\
[lint.rules]
missing-owner = "off"
""",
    fixed=True,
)
