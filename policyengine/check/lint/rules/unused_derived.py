"""A derived value is used by no rule."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule
from policyengine.source.finding import Severity

RULE = Rule(
    code="unused-derived",
    title="A derived value is used by no rule",
    why="""\
It looks as if it counted and does not: often a rule was meant to name it.
""",
    bad="""\
derived: {waited: now_ms - opened_at_ms >= cooldown_ms}
rules:
  - {id: open, when: full}
""",
    good="""\
derived: {waited: now_ms - opened_at_ms >= cooldown_ms}
rules:
  - {id: open, when: full && !waited}
""",
    severity=Severity.WARNING,
)
