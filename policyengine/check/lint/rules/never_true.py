"""A comparison can never be true."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="never-true",
    title="A comparison can never be true",
    why="""\
An input that has a list of allowed values is compared with something that is not on the list: usually a typo.
""",
    bad="""\
when: breaker == "opened"
""",
    good="""\
when: breaker == "open"
""",
    fixed=True,
)
