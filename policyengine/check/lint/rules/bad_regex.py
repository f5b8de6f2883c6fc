"""The regular expression cannot be used."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="bad-regex",
    title="The regular expression cannot be used",
    why="""\
Patterns are RE2: no back references, no look-around, so that matching takes linear time.
""",
    bad="""\
when: prompt.matches("(?=fix)")
""",
    good="""\
when: prompt.matches("^fix")
""",
    fixed=True,
)
