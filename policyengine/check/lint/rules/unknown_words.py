"""The expression names a word list that the bundle does not have."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="unknown-words",
    title="The expression names a word list that the bundle does not have",
    why="""\
`words.NAME` stands for a list in a WordLists document of the same bundle.
""",
    bad="""\
when: prompt.mentions(words.actions)
""",
    good="""\
when: prompt.mentions(words.action)
""",
    fixed=True,
)
