"""Values that may be null, and defaults that nothing is left for."""

from __future__ import annotations

from pathlib import Path

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.kinds.bundle import load

HEAD = """apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0, owner: me}
spec:
  input:
    type: object
    required: [u, n, s]
    properties:
      u: {type: [integer, "null"]}
      n: {type: integer, minimum: 0}
      s: {type: [string, "null"]}
      o: {type: object, required: [v], properties: {v: {type: [number, "null"]}}}
  default: {outcome: {go: false}}
  on_error: {go: false}
"""

NULL = [
    # conditions of rules in order, the rule in which null fails (None: in none)
    (["u > 3"], "r0"),
    (["3 < u"], "r0"),
    (["u + 1 > 3"], "r0"),
    (["n > 5 && u > 3"], "r0"),
    (["n > u"], "r0"),
    (["u != null && u > 3"], None),
    (["u > 3 && u != null"], None),
    (["u == null || u > 3"], None),
    (["u == null", "u > 3"], None),
    (["u == null && n > 5", "u > 3"], "r1"),
    (["u == 3"], None),
    (["u in [1, 2]"], None),
    (["has(input.o) && input.o.v > 0.5"], "r0"),
    (["has(input.o) && input.o.v != null && input.o.v > 0.5"], None),
    (["n > 3"], None),
]

DEFAULT = [
    # conditions of rules in order, whether the default is left something
    (["true"], False),
    (["n >= 0"], False),
    (["n > 5", "n <= 5"], False),
    (["n > 5 || n < 6"], False),
    (["u == null", "u != null"], False),
    (["n > 0"], True),
    (["n > 5", "n < 5"], True),
    (["u == null"], True),
]


def _linted(folder: Path, conditions: list[str], code: str, more: str = "") -> list[str]:
    rows = "".join(f'    - {{id: r{n}, when: "{text}", outcome: {{go: true}}}}\n' for n, text in enumerate(conditions))
    (folder / "t.yaml").write_text(f"{HEAD}  rules:\n{rows}{more}")
    return [one.message for one in lint(folder, Config()).findings if one.code == code]


@pytest.mark.parametrize(("conditions", "rule"), NULL, ids=[" / ".join(row[0]) for row in NULL])
def test_null_fails_where_nobody_asked(tmp_path: Path, conditions: list[str], rule: str | None) -> None:
    found = _linted(tmp_path, conditions, "null-operand")
    assert len(found) == (rule is not None)
    assert all(f"the condition of `{rule}` fails" in message for message in found)


def test_two_rules_that_match_null_do_not_fail_on_it(tmp_path: Path) -> None:
    unique = "  hit: unique\n"
    assert _linted(tmp_path, ["u == null", "u == null || n > 5"], "null-operand", unique) == []
    assert len(_linted(tmp_path, ["u == null", "u == null || n > 5"], "range-overlap", unique)) == 1
    assert len(_linted(tmp_path, ["u == null", "n > 5 && u > 3"], "null-operand", unique)) == 1


def test_what_the_owner_accepts_is_not_said(tmp_path: Path) -> None:
    accepted = '  properties: [{id: p, check: no-errors, accepted: {domain: "u == null", reason: never here}}]\n'
    assert _linted(tmp_path, ["u > 3"], "null-operand", accepted) == []
    other = accepted.replace("u == null", "n == 7")
    assert len(_linted(tmp_path, ["u > 3"], "null-operand", other)) == 1


@pytest.mark.parametrize(("conditions", "left"), DEFAULT, ids=[" / ".join(row[0]) for row in DEFAULT])
def test_a_default_that_nothing_is_left_for(tmp_path: Path, conditions: list[str], left: bool) -> None:
    assert len(_linted(tmp_path, conditions, "unreachable-default")) == (not left)
    policy = load(tmp_path).policy("t")
    reached = [policy.decide({"u": u, "n": n, "s": None}) for u in (None, 0) for n in (0, 5, 6)]
    assert any(not one.rules and not one.errors for one in reached) == left


def test_what_a_constant_takes_is_a_switch(tmp_path: Path) -> None:
    more = "  constants: {least: 0}\n  derived: {enough: n >= least}\n"
    for conditions in (["n >= least"], ["enough"], ["n > 5", "enough"]):
        assert _linted(tmp_path, conditions, "unreachable-default", more) == []
    assert len(_linted(tmp_path, ["n >= least", "n <= 5", "n > 5"], "unreachable-default", more)) == 1
