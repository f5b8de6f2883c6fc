"""What is proven and refuted about tables: each row is one table, one claim and its verdict."""

from __future__ import annotations

from typing import Any

import pytest

from policyengine.check.proofs.results import Result
from policyengine.check.proofs.tables import TableProof
from policyengine.kinds.bundle import load

INT = {"type": "integer"}
COUNT = {"type": "integer", "minimum": 0}
SMALL = {"type": "integer", "minimum": 0, "maximum": 100}
NUMBER = {"type": "number"}
BOOL = {"type": "boolean"}
TEXT = {"type": "string"}
MAYBE = {"type": ["integer", "null"], "minimum": 0}
FREE = {"type": "object"}
COLOUR = {"type": "string", "enum": ["red", "green", "blue"]}
ITEMS = {
    "type": "array",
    "maxItems": 50,
    "items": {
        "type": "object",
        "properties": {"kind": COLOUR, "n": SMALL, "name": TEXT},
        "required": ["kind", "n", "name"],
        "additionalProperties": False,
    },
}


def _rule(id: str, when: str | None = None, **outcome: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"id": id, "outcome": outcome or {"x": 1}}
    return {**row, "when": when} if when else row


def _input(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


def _asserts(text: str, **more: Any) -> dict[str, Any]:
    return {"properties": [{"id": "p", "assert": text, **more}]}


CHECKS = [
    # what, the table, the claim, verdict, what the detail or the example's note says
    ("every rule reached", {"input": _input(a=INT), "rules": [_rule("one", "a > 5"), _rule("two", "a < 3")]},
     "rules-reachable", "proven", "2 rules"),
    ("a default behind a rule without a condition",
     {"input": _input(c=COLOUR), "rules": [_rule("r", 'c == "red"'), _rule("rest")]},
     "rules-reachable", "refuted", "default"),
    ("a default behind rules that take all",
     {"input": _input(a=INT), "rules": [_rule("r", "a > 5"), _rule("s", "a < 6")]},
     "rules-reachable", "refuted", "default"),
    ("a rule behind a wider one", {"input": _input(a=INT), "rules": [_rule("wide", "a > 5"), _rule("dead", "a > 7")]},
     "rules-reachable", "refuted", "dead"),
    ("a rule behind one without a condition", {"input": _input(a=INT), "rules": [_rule("all"), _rule("dead", "a > 7")]},
     "rules-reachable", "refuted", "dead"),
    ("a rule that the schema's bounds exclude", {"input": _input(a=SMALL), "rules": [_rule("dead", "a > 100")]},
     "rules-reachable", "refuted", "dead"),
    ("a rule at the schema's bound", {"input": _input(a=SMALL), "rules": [_rule("edge", "a > 99")]},
     "rules-reachable", "proven", ""),
    ("together three enum values leave nothing",
     {"input": _input(c=COLOUR), "rules": [_rule("r", 'c == "red"'), _rule("gb", 'c in ["green", "blue"]'),
      _rule("dead")]},
     "rules-reachable", "refuted", "dead"),
    ("an enum decided by constants",
     {"input": _input(c=COLOUR), "constants": {"on": ["red"]}, "rules": [_rule("r", "c in on")]},
     "rules-reachable", "proven", ""),
    ("a dead rule the owner accepts",
     {"input": _input(a=BOOL), "constants": {"on": False}, "rules": [_rule("dead", "on && a")],
      "properties": [{"id": "p", "check": "rules-reachable", "accepted": {"domain": 'rule == "dead"',
       "reason": "off"}}]},
     "p", "accepted", "dead"),
    ("a live rule the owner takes for dead",
     {"input": _input(a=BOOL), "rules": [_rule("live", "a")],
      "properties": [{"id": "p", "check": "rules-reachable", "accepted": {"domain": 'rule == "live"',
       "reason": "off"}}]},
     "p", "refuted", "not needed"),
    ("a rule that only a word reaches", {"input": _input(t=TEXT), "rules": [_rule("go", 't.matches("^go+d$")')]},
     "rules-reachable", "proven", ""),
    ("a key of a free-form part is asked for first",
     {"input": _input(s=FREE), "rules": [_rule("a", '"k" in s && s["k"] == 1')]}, "no-errors", "proven", ""),
    ("a key that nobody asked for", {"input": _input(s=FREE), "rules": [_rule("a", 's["k"] == 1')]},
     "no-errors", "refuted", ""),
    ("a step into what may be no map",
     {"input": _input(s=FREE), "rules": [_rule("a", '"k" in s && "l" in s["k"]')]}, "no-errors", "refuted", ""),
    ("a step into what was asked whether it is a map",
     {"input": _input(s=FREE), "rules": [_rule("a", '"k" in s && type(s["k"]) == map && "l" in s["k"]')]},
     "no-errors", "proven", ""),
    ("a step into what was asked whether it is none",
     {"input": _input(s=FREE), "rules": [_rule("a", '"k" in s && type(s["k"]) != map && "l" in s["k"]')]},
     "no-errors", "refuted", ""),
    ("a key below a map that was asked for",
     {"input": _input(s=FREE),
      "rules": [_rule("a", '"k" in s && type(s["k"]) == map && "l" in s["k"] && s["k"]["l"] == s["k"]["l"]')]},
     "no-errors", "proven", ""),
    ("a key cannot be there and not be there",
     {"input": _input(s=FREE), "rules": [_rule("dead", '"k" in s && !("k" in s)'), _rule("rest")]},
     "rules-reachable", "refuted", "dead"),
    ("a long text", {"input": _input(t=TEXT), "rules": [_rule("go", "t.size() > 2000")]},
     "rules-reachable", "proven", ""),
    ("a text of a length", {"input": _input(t=TEXT), "constants": {"most": 300},
     "rules": [_rule("long", "most < t.size()"), _rule("at", "t.size() == most")]},
     "rules-reachable", "proven", ""),
    ("two words at once", {"input": _input(t=TEXT), "rules": [_rule("a", 't.startsWith("ab") && t.endsWith("yz")')]},
     "rules-reachable", "not decided", "startsWith"),
    ("an unknown never makes a proof of what it may break",
     {"input": _input(t=TEXT), "rules": [_rule("a", 't.matches("a") && !t.matches("a")')]},
     "rules-reachable", "refuted", "a"),
    ("one at a time", {"input": _input(a=INT), "hit": "unique", "rules": [_rule("lo", "a < 5"), _rule("hi", "a >= 5")]},
     "one-rule", "proven", ""),
    ("two at once", {"input": _input(a=INT), "hit": "unique", "rules": [_rule("lo", "a < 5"), _rule("hi", "a >= 4")]},
     "one-rule", "refuted", "only one rule"),
    ("no outcome", {"input": _input(a=INT), "default": None, "rules": [_rule("lo", "a < 5")]},
     "has-outcome", "refuted", "default"),
    ("no default, none needed",
     {"input": _input(a=INT), "default": None, "rules": [_rule("lo", "a < 5"), _rule("hi", "a >= 5")]},
     "has-outcome", "proven", ""),
    ("properties without a type allow what has none",
     {"input": _input(m={"required": ["n"], "properties": {"n": INT}}), "rules": [_rule("r", "m.n > 5")]},
     "no-errors", "refuted", ""),
    ("a type beside a union holds for its parts",
     {"input": _input(m={"type": "object", "anyOf": [{"required": ["n"], "properties": {"n": INT}}]}),
      "rules": [_rule("r", "m.n > 5")]},
     "no-errors", "proven", ""),
    ("no error", {"input": _input(a=SMALL), "rules": [_rule("r", "a + 1 > 5")]}, "no-errors", "proven", ""),
    ("overflow", {"input": _input(a=COUNT), "rules": [_rule("r", "a + 1 > 5")]}, "no-errors", "refuted", "overflow"),
    ("a product that overflows", {"input": _input(a=INT), "rules": [_rule("r", "a * 3 > 5")]},
     "no-errors", "refuted", "overflow"),
    ("the one number without a negative", {"input": _input(a=INT), "rules": [_rule("r", "-a > 5")]},
     "no-errors", "refuted", "overflow"),
    ("division by zero", {"input": _input(a=SMALL, b=SMALL), "rules": [_rule("r", "a / b > 5")]},
     "no-errors", "refuted", "division"),
    ("division that is asked about first",
     {"input": _input(a=SMALL, b=SMALL), "rules": [_rule("r", "b != 0 && a / b > 5")]}, "no-errors", "proven", ""),
    ("an error that the other side absorbs",
     {"input": _input(a=SMALL, b=SMALL), "rules": [_rule("r", "a / b > 5 || b == 0")]}, "no-errors", "proven", ""),
    ("null in an order", {"input": _input(a=MAYBE), "rules": [_rule("r", "a > 5")]}, "no-errors", "refuted",
     "overload"),
    ("null asked about first", {"input": _input(a=MAYBE), "rules": [_rule("r", "a != null && a > 5")]},
     "no-errors", "proven", ""),
    ("null asked about in a derived value",
     {"input": _input(a=MAYBE), "derived": {"b": "a == null ? 0 : a"}, "rules": [_rule("r", "b > 5")]},
     "no-errors", "proven", ""),
    ("a derived value only looked at behind its guard",
     {"input": _input(a=SMALL, b=SMALL), "derived": {"q": "a / b"}, "rules": [_rule("z", "b == 0"), _rule("r",
      "q > 5")]},
     "no-errors", "proven", ""),
    ("a missing field asked about",
     {"input": {"properties": {"a": INT}, "required": []}, "rules": [_rule("r", "has(input.a) && a > 5")]},
     "no-errors", "proven", ""),
    ("an item's error in exists", {"input": _input(l=ITEMS), "rules": [_rule("r", "l.exists(i, 10 / i.n > 3)")]},
     "no-errors", "refuted", "division"),
    ("an item's error that its own guard keeps",
     {"input": _input(l=ITEMS), "rules": [_rule("r", "l.exists(i, i.n > 0 && 10 / i.n > 3)")]}, "no-errors", "proven",
      ""),
    ("an index beyond the list",
     {"input": _input(a=SMALL), "constants": {"l": [1, 2, 3]}, "rules": [_rule("r", "l[math.least(a, 3)] > 1")]},
     "no-errors", "refuted", "index"),
    ("an index within the list",
     {"input": _input(a=SMALL), "constants": {"l": [1, 2, 3]}, "rules": [_rule("r", "l[math.least(a, 2)] > 1")]},
     "no-errors", "proven", ""),
    ("a list without a bound may use up the budget of steps",
     {"input": _input(l={"type": "array", "items": SMALL}), "rules": [_rule("r", "l.exists(i, i > 5)")]},
     "no-errors", "not decided", "budget"),
    ("a double beyond int", {"input": _input(a=NUMBER), "rules": [_rule("r", "int(a) > 5")]},
     "no-errors", "refuted", "range"),
]  # fmt: skip

ASSERTS = [
    # what, the table, the property, verdict
    ("a field of one row where all are collected", {"hit": "collect", "input": _input(a=BOOL), "on_error": {"y": 0},
     "rules": [_rule("r", "true", y=0), _rule("s", "a", y=1)]}, _asserts("outcome.y == 0"), "refuted"),
    ("a field that no collected outcome has", {"hit": "collect", "input": _input(a=BOOL),
     "rules": [_rule("r", "true", y=0)]}, _asserts("outcome.y == 0"), "refuted"),
    ("the first rule of those collected", {"hit": "collect", "input": _input(a=BOOL),
     "rules": [_rule("r", "true", y=0), _rule("s", "a", y=1)]}, _asserts('rule == "r"'), "proven"),
    ("what is collected is not looked into", {"hit": "collect", "input": _input(a=BOOL),
     "rules": [_rule("r", "true", y=0)]}, _asserts("outcome.matches.size() == 1"), "not decided"),
    ("a computed field", {"input": _input(a=SMALL), "rules": [{"id": "r", "compute": {"x": "a + 1"}}]},
     _asserts("outcome.x > a"), "proven"),
    ("a computed field, wrongly", {"input": _input(a=SMALL), "rules": [{"id": "r", "compute": {"x": "a * 2"}}]},
     _asserts("outcome.x > a"), "refuted"),
    ("the deciding rule", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts('rule == "r" || a <= 5'), "proven"),
    ("the default", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts('rule != "default" || a <= 5'), "proven"),
    ("on_error counts as an outcome", {"input": _input(a=MAYBE), "rules": [_rule("r", "a > 5")]},
     _asserts("outcome.x >= 0"), "refuted"),
    ("on_error left out", {"input": _input(a=MAYBE), "rules": [_rule("r", "a > 5")]},
     _asserts('rule == "on_error" || outcome.x >= 0'), "proven"),
    ("in a domain", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts("outcome.x == 0", domain="a < 5"), "proven"),
    ("accepted where it fails", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts("outcome.x == 0", accepted={"domain": "a > 5", "reason": "known"}), "accepted"),
    ("accepted too narrowly", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts("outcome.x == 0", accepted={"domain": "a > 6", "reason": "known"}), "refuted"),
    ("accepted in vain", {"input": _input(a=SMALL), "rules": [_rule("r", "a > 5")]},
     _asserts("outcome.x >= 0", accepted={"domain": "a > 6", "reason": "known"}), "refuted"),
    ("every item", {"input": _input(l=ITEMS), "rules": [_rule("r", 'l.exists(i, i.kind == "red")')]},
     _asserts('outcome.x == 1 || l.all(i, i.kind != "red")'), "proven"),
    ("every item, one short", {"input": _input(l=ITEMS), "rules": [_rule("r", 'l.exists(i, i.kind == "red")')]},
     _asserts('outcome.x == 1 || l.all(i, i.kind == "blue")'), "refuted"),
    ("three different items", {"input": _input(l=ITEMS), "rules": [_rule("r", 'l.exists(i, i.kind == "red")')]},
     _asserts(
         '!(l.exists(i, i.kind == "red") && l.exists(i, i.kind == "green") && l.exists(i, i.kind == "blue"))'
     ), "refuted"),
    ("as many witnesses as tests need", {"input": _input(l=ITEMS), "rules": [_rule("r", "l.exists(i, i.n == 1)")]},
     _asserts(
         "!(" + " && ".join(f"l.exists(i, i.n == {n})" for n in range(1, 9)) + ")"
     ), "refuted"),
    ("the length of a list", {"input": _input(l=ITEMS), "rules": [_rule("r", "l.size() > 40")]},
     _asserts("outcome.x == 0 || l.exists(i, i.n >= 0)"), "proven"),
    ("a list is no longer than the schema says", {"input": _input(l=ITEMS)}, _asserts("l.size() <= 50"), "proven"),
    ("a list may be as long as the schema says", {"input": _input(l=ITEMS)}, _asserts("l.size() < 50"), "refuted"),
    ("an item per item is not modelled",
     {"input": _input(l=ITEMS)}, _asserts("l.all(i, l.exists(j, j.n == i.n))"), "not decided"),
    ("which item comes first is not modelled", {"input": _input(l=ITEMS)},
     _asserts("l.size() == 0 || l[0].n >= 0"), "not decided"),
    ("cutting towards zero", {"input": _input(a={"type": "integer", "minimum": -100, "maximum": 100})},
     _asserts("a / 2 * 2 + a % 2 == a"), "proven"),
    ("cutting is not rounding down", {"input": _input(a={"type": "integer", "minimum": -100, "maximum": 100})},
     _asserts("a % 2 >= 0"), "refuted"),
    ("rounding", {"input": _input(a={"type": "number", "minimum": -100, "maximum": 100})},
     _asserts("math.ceil(a) >= a && math.floor(a) <= a && math.abs(math.round(a) - a) <= 0.5"), "proven"),
    ("a word the engine knows", {"input": _input(t=TEXT), "rules": [_rule("r", 't.contains("x")')]},
     _asserts('t != "axb" || outcome.x == 1'), "proven"),
    ("what a word means is not known", {"input": _input(t=TEXT), "rules": [_rule("r", 't.startsWith("abc")')]},
     _asserts('!t.startsWith("abcd") || outcome.x == 1'), "not decided"),
    ("a text that shows it is found", {"input": _input(t=TEXT), "rules": [_rule("r", 't.matches("^[0-9]{3}$")')]},
     _asserts("outcome.x == 0"), "refuted"),
    ("equal texts", {"input": _input(s=TEXT, t=TEXT), "rules": [_rule("r", "s == t")]},
     _asserts('outcome.x == 0 || s.matches("a") == t.matches("a")'), "proven"),
    ("an input called rule is not the deciding rule in a derived value",
     {"input": _input(rule=SMALL), "derived": {"d": "rule + 1"}}, _asserts('d >= 1 && rule == "default"'), "proven"),
    ("other names", {"input": _input(a=SMALL)}, _asserts("b > 1"), "refuted"),
    ("for ladders only", {"input": _input(a=SMALL)}, {"properties": [{"id": "p", "nondecreasing": "a"}]}, "refuted"),
]  # fmt: skip


def _one(policy: Any, claim: str) -> Result:
    return next(result for result in TableProof(policy).results() if result.id == claim)


def _spec(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "default" or value is not None}


@pytest.mark.parametrize(("what", "spec", "claim", "verdict", "says"), CHECKS, ids=[row[0] for row in CHECKS])
def test_check(table_policy: Any, what: str, spec: dict[str, Any], claim: str, verdict: str, says: str) -> None:
    policy = table_policy(spec) if "default" not in spec else _without_default(table_policy, spec)
    found = _one(policy, claim)
    assert found.verdict == verdict, found
    assert says in " ".join([found.detail, *(example.note for example in found.examples)])
    _shown(policy, found)


def _without_default(table_policy: Any, spec: dict[str, Any]) -> Any:
    return table_policy({**spec, "default": {}})


@pytest.mark.parametrize(("what", "spec", "stated", "verdict"), ASSERTS, ids=[row[0] for row in ASSERTS])
def test_assert(table_policy: Any, what: str, spec: dict[str, Any], stated: dict[str, Any], verdict: str) -> None:
    policy = table_policy({**spec, **stated})
    found = _one(policy, "p")
    assert found.verdict == verdict, found
    _shown(policy, found)


def _shown(policy: Any, found: Result) -> None:
    """Every example fits the schema, and the engine decides on it what the example says."""
    from policyengine.source.schema import validate_input

    for example in found.examples:
        assert not validate_input(dict(example.input), policy.input_schema)
        assert dict(policy.decide(example.input).outcome) == dict(example.seen)


def test_a_question_that_takes_too_long_is_not_decided(table_policy: Any) -> None:
    number = {"type": "integer", "minimum": 2, "maximum": 1_000_000}
    policy = table_policy(
        {"input": _input(a=number, b=number, c=number), **_asserts("a * a * a + b * b * b != c * c * c")}
    )
    found = next(result for result in TableProof(policy, timeout_ms=50).results() if result.id == "p")
    assert found.verdict == "not decided"
    assert "0.05 s" in found.detail


def test_the_routing_property_is_refuted_with_a_batch_when_the_veto_is_gone(tmp_path: Any) -> None:
    import shutil

    from policyengine.source.resources import policies_folder

    folder = tmp_path / "bundle"
    shutil.copytree(policies_folder(), folder)
    path = folder / "routing.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("changing_kinds: [edit, delete, move, execute]", "changing_kinds: [edit, delete, move]")
    )
    policy = load(folder).policy("routing")
    found = _one(policy, "changing-tool-never-fast")
    assert found.verdict == "refuted"
    assert [call["kind"] for call in found.examples[0].input["batch"]] == ["execute"]
    assert policy.outcome(found.examples[0].input)["decision"] == "fast"
