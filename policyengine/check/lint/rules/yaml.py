"""The file is not YAML that can be read without guessing."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="yaml",
    title="The file is not YAML that can be read without guessing",
    why="""\
Tabs, duplicate keys, tags, merge keys, numbers with a leading zero and the like mean different things to different
YAML readers. Such a file is refused instead of guessed at.
""",
    bad="""\
spec:
  constants: {pct: 0.7}
  constants: {pct: 0.8}   # which one?
""",
    good="""\
spec:
  constants: {pct: 0.7}
""",
    fixed=True,
)
