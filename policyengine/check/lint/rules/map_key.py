"""A map has keys that CEL does not allow."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="map-key",
    title="A map has keys that CEL does not allow",
    why="""\
Keys of maps are int, uint, bool or text.
""",
    bad="""\
when: "forced in {1.5: true}"
""",
    good="""\
when: "forced in {true: 1}"
""",
    fixed=True,
)
