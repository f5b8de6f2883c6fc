"""An ignore comment that ignores nothing. The engine finds it once all other rules have run."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule
from policyengine.source.finding import Severity

RULE = Rule(
    code="unused-ignore",
    title="An ignore comment ignores nothing",
    why="""\
The fault that it excused is gone, or never was on that line. Left in place it would excuse the next one.
""",
    bad="""\
max_consecutive_failures: 3  # policyengine: ignore[breaker-limit] off on purpose
""",
    good="""\
max_consecutive_failures: 3
""",
    severity=Severity.WARNING,
    fixable=True,
)
