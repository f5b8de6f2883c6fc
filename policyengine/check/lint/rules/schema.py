"""The document does not fit the schema of its kind."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="schema",
    title="The document does not fit the schema of its kind",
    why="""\
A misspelt field would otherwise be ignored in silence, and the policy would not do what it says.
""",
    bad="""\
rules:
  - id: forced
    wehn: forced
""",
    good="""\
rules:
  - id: forced
    when: forced
""",
    fixed=True,
)
