"""The documents do not make a bundle."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule

RULE = Rule(
    code="bundle",
    title="The documents do not make a bundle",
    why="""\
Each document may be fine by itself and still name a policy that is not there, leave open which of two ladders serves,
or define something that its kind cannot build.
""",
    bad="""\
kind: Bundle
spec:
  use: {Ladder: flor}
""",
    good="""\
kind: Bundle
spec:
  use: {Ladder: floor}
""",
    fixed=True,
)
