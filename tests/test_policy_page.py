"""docs/policies.md: its example is a bundle that passes every check, and what it says of the language holds."""

import re

import pytest
import yaml

from policyengine.cel import from_json_schema
from policyengine.kinds.bundle import builtin, load
from policyengine.kinds.registry import KINDS
from policyengine.source.schema import load_schema
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "policies"


def test_the_example_passes_every_check(run):
    assert run("lint", EXAMPLE).out == "No findings.\n"
    assert run("fmt", "--check", EXAMPLE).status == 0
    found = run("test", EXAMPLE, "--mutate")
    assert found.status == 0, found.out


def test_the_example_uses_every_part_of_a_table_but_two():
    """`state` belongs to breakers, and without `hit` the first rule that matches decides."""
    (review,) = load(EXAMPLE).policies.values()
    assert set(load_schema("table")["properties"]["spec"]["properties"]) - set(review.spec) == {"hit", "state"}


def table(head):
    """The rows of the page's table with this head, cell by cell."""
    found = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found[1].splitlines()]


@pytest.mark.parametrize(("schema", "cel"), table("JSON Schema"))
def test_the_types_that_json_schema_gives(schema, cel):
    assert str(from_json_schema(yaml.safe_load(schema.strip("`")))) == cel


TABLE = """
apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0}
spec:
  input: {type: object, properties: {a: {type: integer}}, required: [a]}
  hit: %s
  rules:
    - {id: one, when: a > 1, outcome: {x: 1}}
    - {id: two, when: a > 5, outcome: {x: 2}}
  on_error: {x: -1}
"""
DEFAULT = "  default: {outcome: {x: 0}}\n"
NONE, ONE, TWO = {"a": 0}, {"a": 3}, {"a": 9}


@pytest.mark.parametrize(
    ("hit", "none", "one", "two"),
    [
        ("first", {"x": 0}, {"x": 1}, {"x": 1}),
        ("unique", {"x": 0}, {"x": 1}, {"x": -1}),
        ("collect", {"matches": []}, {"matches": [{"x": 1}]}, {"matches": [{"x": 1}, {"x": 2}]}),
    ],
)
def test_what_each_hit_policy_does(hit, none, one, two, tmp_path):
    assert {row[0].split()[0].strip("`") for row in table("`hit`")} == set(
        load_schema("common")["$defs"]["hit"]["enum"]
    )
    (tmp_path / "t.yaml").write_text(TABLE % hit + (DEFAULT if hit != "collect" else ""))
    policy = load(tmp_path).policy("t")
    assert [policy.outcome(given) for given in (NONE, ONE, TWO)] == [none, one, two]


OUTCOME = """
apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0}
spec:
  input: {type: object, properties: {a: {type: integer}, b: {type: integer}}, required: [a, b]}
  rules:
    - {id: all, when: a == 0, outcome: {a: 10, why: mine}, compute: {b: a + 20}}
    - {id: some, when: a == 1, outcome: {c: 30}}
    - {id: fails, when: 10 / (a - 2) > 0, outcome: {c: 0}}
  reason_field: why
  state: [a, b]
  unless_set: {c: a + 40}
  on_error: {c: -1}
"""


@pytest.mark.parametrize(
    ("a", "decided"),
    [
        (0, {"a": 10, "b": 20, "c": 40, "why": "mine"}),
        (1, {"a": 1, "b": 7, "c": 30, "why": "some"}),
        (2, {"c": -1}),
    ],
)
def test_how_an_outcome_is_put_together(a, decided, tmp_path):
    (tmp_path / "t.yaml").write_text(OUTCOME)
    assert load(tmp_path).policy("t").outcome({"a": a, "b": 7}) == decided


def test_what_the_page_says_of_kinds():
    several = re.search(r"asked by name only \(([^)]*)\)", PAGE)[1]
    assert set(re.findall(r"`(\w+)`", several)) == {kind.name for kind in KINDS.values() if kind.several}
    state = re.search(r"in the input \(([^)]*)\)", PAGE)[1]
    specs = {name: load_schema(kind.file)["properties"]["spec"]["properties"] for name, kind in KINDS.items()}
    assert set(re.findall(r"`(\w+)`", state)) == {name for name, spec in specs.items() if "state" in spec}
    assert {name for name, spec in specs.items() if "input" in spec} == {"Table"}


def test_a_bundle_without_a_manifest(tmp_path):
    (tmp_path / "t.yaml").write_text(TABLE % "first")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "wrong.yaml").write_text("nonsense")
    (tmp_path / "t.test.yaml").write_text("nonsense")
    bundle = load(tmp_path)
    assert (bundle.name, bundle.version) == (tmp_path.name, "0.0.0")
    assert builtin().name == "default"
