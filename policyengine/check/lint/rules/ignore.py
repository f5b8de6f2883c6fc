"""An ignore comment cannot be obeyed."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="ignore",
    title="An ignore comment cannot be obeyed",
    why="""\
An ignore names existing rules that may be ignored, and says why; the next reader wants to know.
""",
    bad="""\
max_consecutive_failures: 0  # policyengine: ignore[breaker-limit]
""",
    good="""\
max_consecutive_failures: 0  # policyengine: ignore[breaker-limit] this stage never compacts by itself
""",
    fixed=True,
)
