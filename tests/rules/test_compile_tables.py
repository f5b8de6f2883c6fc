"""What tables decide: hit policies, derived values, outputs, errors, traces."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import sys
import threading

import pytest

from policyengine.rules.compile import compile_table
from policyengine.rules.decision import RuleStatus
from policyengine.rules.table import Expression, HitPolicy, Outcome, Rule, Table
from policyengine.source.place import Place

HERE = Place("policy.yaml")
SCHEMA = {
    "type": "object",
    "properties": {
        "tokens": {"type": "integer"},
        "ratio": {"type": "number"},
        "kind": {"type": "string", "enum": ["read", "edit"]},
        "flag": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "limit": {"type": ["integer", "null"]},
        "note": {"type": "string"},
        "any": {},
    },
    "required": ["tokens", "ratio", "kind", "flag", "names", "limit"],
}
INPUT = {"tokens": 10, "ratio": 0.5, "kind": "read", "flag": True, "names": ["a"], "limit": None}


def expression(text):
    return Expression(text, HERE)


def table(rules, hit="first", derived=None, outputs=None, default=None, **more):
    """`rules` maps an id to its condition, or to a pair of condition and computed fields."""
    built = []
    for name, written in rules.items():
        when, computed = written if isinstance(written, tuple) else (written, {})
        outcome = Outcome({"id": name}, {key: expression(text) for key, text in computed.items()})
        built.append(Rule(name, None if when is None else expression(when), outcome, HERE))
    return Table(
        policy="p",
        version="1",
        kind="Table",
        input_schema=SCHEMA,
        rules=tuple(built),
        default=Outcome({"id": "default"}) if default is None else default,
        on_error={"id": "error"},
        hit=HitPolicy(hit),
        derived={key: expression(text) for key, text in (derived or {}).items()},
        outputs={key: expression(text) for key, text in (outputs or {}).items()},
        **more,
    )


# table, changes to the input, outcome, rules that matched, where errors are
DECISIONS = {
    "first match": (table({"a": "tokens > 10", "b": "tokens > 5", "c": None}), {}, {"id": "b"}, ["b"], []),
    "no match": (table({"a": "tokens > 10"}), {}, {"id": "default"}, [], []),
    "always": (table({"a": None, "b": "true"}), {}, {"id": "a"}, ["a"], []),
    "error": (table({"a": "1 / 0 > tokens", "b": "true"}), {}, {"id": "error"}, [], ["rule a"]),
    "error behind the match": (table({"a": "true", "b": "1 / 0 > 1"}), {}, {"id": "a"}, ["a"], []),
    "error absorbed": (table({"a": "1 / 0 > tokens || flag"}), {}, {"id": "a"}, ["a"], []),
    "not a bool": (table({"a": "tokens"}), {}, {"id": "error"}, [], ["rule a"]),
    "not a bool at run time": (table({"a": "any"}), {"any": 1}, {"id": "error"}, [], ["rule a"]),
    "unreadable": (table({"a": "tokens >"}), {}, {"id": "error"}, [], ["rule a"]),
    "unreadable behind the match": (table({"a": "flag", "b": "tokens >"}), {}, {"id": "a"}, ["a"], []),
    "collect": (
        table({"a": "flag", "b": "!flag", "c": "tokens == 10"}, "collect"),
        {},
        {"matches": [{"id": "a"}, {"id": "c"}]},
        ["a", "c"],
        [],
    ),
    "collect nothing": (table({"a": "!flag"}, "collect"), {}, {"matches": []}, [], []),
    "collect computed": (
        table({"a": ("flag", {"t": "tokens"}), "b": "flag"}, "collect", outputs={"o": "ratio"}),
        {},
        {"matches": [{"id": "a", "t": 10}, {"id": "b"}], "o": 0.5},
        ["a", "b"],
        [],
    ),
    "collect with an error": (
        table({"a": "flag", "b": "names[5] == 'a'"}, "collect"),
        {},
        {"id": "error"},
        [],
        ["rule b"],
    ),
    "unique": (table({"a": "!flag", "b": "flag"}, "unique"), {}, {"id": "b"}, ["b"], []),
    "unique, none": (table({"a": "!flag"}, "unique"), {}, {"id": "default"}, [], []),
    "unique, two": (table({"a": "flag", "b": "flag"}, "unique"), {}, {"id": "error"}, [], ["rule b"]),
    "computed": (table({"a": ("flag", {"t": "tokens * 2"})}), {}, {"id": "a", "t": 20}, ["a"], []),
    "computed fails": (table({"a": ("flag", {"t": "tokens / 0"})}), {}, {"id": "error"}, [], ["output t"]),
    "computed of another rule": (
        table({"a": ("!flag", {"t": "tokens / 0"}), "b": "flag"}),
        {},
        {"id": "b"},
        ["b"],
        [],
    ),
    "outputs": (table({"a": "!flag"}, outputs={"o": "tokens + 1"}), {}, {"id": "default", "o": 11}, [], []),
    "outputs fail": (table({"a": "flag"}, outputs={"o": "names[9]"}), {}, {"id": "error"}, [], ["output o"]),
    "derived": (
        table({"a": "twice > 30", "b": "more == 21"}, derived={"twice": "tokens * 2", "more": "twice + 1"}),
        {},
        {"id": "b"},
        ["b"],
        [],
    ),
    "derived that fails": (
        table({"a": "twice > 30"}, derived={"twice": "tokens / 0"}),
        {},
        {"id": "error"},
        [],
        ["rule a"],
    ),
    "derived that nobody needed": (
        table({"a": "flag || bad > 1", "b": "bad > 2"}, derived={"bad": "tokens / 0"}),
        {},
        {"id": "a"},
        ["a"],
        [],
    ),
    "derived needed only sometimes": (
        table({"a": "!flag && bad > 1", "b": "!flag && bad > 2", "c": "flag"}, derived={"bad": "tokens / 0"}),
        {},
        {"id": "c"},
        ["c"],
        [],
    ),
    "optional there": (table({"a": "has(input.note) && note == 'x'"}), {"note": "x"}, {"id": "a"}, ["a"], []),
    "optional missing": (table({"a": "has(input.note) && note == 'x'"}), {}, {"id": "default"}, [], []),
    "optional not asked": (table({"a": "note == 'x'"}), {}, {"id": "error"}, [], ["rule a"]),
    "null": (table({"a": "limit == null"}), {}, {"id": "a"}, ["a"], []),
    "null in an order": (table({"a": "limit > 3"}), {}, {"id": "error"}, [], ["rule a"]),
    "int for a number": (table({"a": "ratio == 2.0"}), {"ratio": 2}, {"id": "a"}, ["a"], []),
    "constants": (table({"a": "tokens in wanted"}, constants={"wanted": [1, 10]}), {}, {"id": "a"}, ["a"], []),
    "division of doubles by zero": (table({"a": "1.0 / (ratio - 0.5) > 1.0"}), {}, {"id": "a"}, ["a"], []),
    "overflow": (table({"a": "tokens + 1 > 0"}), {"tokens": 2**63 - 1}, {"id": "error"}, [], ["rule a"]),
    "two variables": (table({"a": "names.exists(at, name, at == 0 && name == 'a')"}), {}, {"id": "a"}, ["a"], []),
}


def decided(compiled, value):
    """The decision, after checking that all ways of deciding agree."""
    plain, traced = compiled.decide(value), compiled.decide(value, trace=True)
    columns = {name: [item] for name, item in value.items()}
    for other in (traced, *compiled.decide_many([value]), *compiled.decide_many(columns)):
        assert (other.outcome, other.rules, other.errors) == (plain.outcome, plain.rules, plain.errors)
    assert compiled.outcome(value) == plain.outcome
    return plain


@pytest.mark.parametrize("name", DECISIONS)
def test_decision(name):
    tested, changes, outcome, rules, errors = DECISIONS[name]
    decision = decided(compile_table(tested), {**INPUT, **changes})
    assert decision.outcome == outcome
    assert list(decision.rules) == rules
    assert [error.where for error in decision.errors] == errors
    assert json.loads(json.dumps(decision.outcome)) == outcome


# a condition that looks at the property, and values that do not fit what is declared
MISFITS = [
    ("tokens >= 1", "tokens", ["1", True, 1.5, float("inf"), None, [], 2**63, -(2**63) - 1, 1e19]),
    ("ratio >= 0.0", "ratio", ["1", True, None, {}]),
    ("kind != 'edit'", "kind", [1, None, True, ["read"]]),
    ("kind in ['read', 'edit']", "kind", [1, None, True, ["read"], {}]),
    ("flag || true", "flag", []),
    ("!flag", "flag", [0, 1, "", None, []]),
    ("flag", "flag", [0, 1, "yes", None, [1]]),
    ("names.size() >= 0", "names", ["abc", {"a": 1}, None, 3, ["a"] * 4, [1], [None], ["a", True]]),
    ("'x' in names || true", "names", []),
    ("!('x' in names)", "names", ["abc", {"x": 1}, [1], [["x"]]]),
    ("names.all(name, name != 'x')", "names", ["abc", {"a": 1}, [1], [True]]),
    ("limit == null || limit > 0", "limit", ["1", True, 1.5, []]),
    ("!has(input.note) || note != 'x'", "note", [1, None, []]),
]


@pytest.mark.parametrize(("text", "name", "value"), [(text, name, value) for text, name, vs in MISFITS for value in vs])
def test_a_value_that_does_not_fit_is_an_error(text, name, value):
    compiled = compile_table(table({"a": text}))
    assert decided(compiled, {**INPUT, name: value}).outcome == {"id": "error"}


@pytest.mark.parametrize("name", SCHEMA["required"])
def test_a_missing_value_is_an_error_where_it_is_looked_at(name):
    value = {key: item for key, item in INPUT.items() if key != name}
    assert decided(compile_table(table({"a": f"{name} == {name}"})), value).outcome == {"id": "error"}
    assert decided(compile_table(table({"a": "true", "b": f"{name} == {name}"})), value).outcome == {"id": "a"}


@pytest.mark.parametrize("value", [None, 3, "text", [], [1]])
def test_an_input_that_is_no_object(value):
    compiled = compile_table(table({"a": "tokens > 1"}))
    assert compiled.decide(value).outcome == {"id": "error"}
    assert compiled.decide(value, trace=True).outcome == {"id": "error"}
    assert compiled.outcome(value) == {"id": "error"}


def test_errors_do_not_show_the_input():
    compiled = compile_table(table({"a": "kind + 1 == names[3]"}))
    decision = compiled.decide({**INPUT, "kind": ["sk-secret"], "names": ["sk-secret"] * 9}, trace=True)
    assert "secret" not in str(decision.errors)
    assert "secret" not in "".join(step.error or "" for step in decision.trace)


def test_trace():
    tested = table(
        {"a": "tokens > limits[0] && flag", "b": "!flag || names.exists(name, name == 'a')", "c": "ratio > 1.0"},
        derived={"twice": "tokens * 2", "unused": "tokens * 3"},
        constants={"limits": [20]},
        outputs={"o": "twice"},
    )
    decision = compile_table(tested).decide(INPUT, trace=True)
    first, second, third = decision.trace
    assert (first.rule, first.status, first.values) == ("a", RuleStatus.FALSE, {"tokens": 10, "limits[0]": 20})
    assert first.when == "tokens > limits[0] && flag"
    assert (second.status, second.values) == (
        RuleStatus.MATCHED,
        {"flag": True, "names.exists(name, name == 'a')": True},
    )
    assert (third.rule, third.status, third.values) == ("c", RuleStatus.SKIPPED, {})
    assert decision.derived == {"twice": 20}


def test_trace_of_an_error():
    decision = compile_table(table({"a": "tokens > 1 && names[7] == 'a'"})).decide(INPUT, trace=True)
    (step,) = decision.trace
    assert step.status is RuleStatus.ERROR
    assert step.error == "index out of range"
    assert step.values == {"tokens": 10, "names[7]": "index out of range"}


def test_outcomes_are_shared_and_cannot_be_changed():
    tested = table({"a": "!flag"}, default=Outcome({"id": "default", "list": [1], "map": {"a": 1}}))
    compiled = compile_table(tested)
    outcome = compiled.outcome(INPUT)
    assert outcome is compiled.outcome(INPUT)
    for change in (
        lambda: outcome.update(id="x"),
        lambda: outcome["list"].append(2),
        lambda: outcome["map"].clear(),
        lambda: outcome.__setitem__("id", "x"),
    ):
        with pytest.raises(TypeError, match="copy"):
            change()
    for plain in (copy.deepcopy(outcome), pickle.loads(pickle.dumps(outcome))):
        assert plain == outcome
        plain["list"].append(2)
        plain["id"] = "x"
    assert compiled.outcome(INPUT) == {"id": "default", "list": [1], "map": {"a": 1}}


def test_the_error_outcome_is_shared_too():
    compiled = compile_table(table({"a": "1 / 0 > tokens"}))
    with pytest.raises(TypeError, match="copy"):
        compiled.outcome(INPUT)["id"] = "x"
    assert compiled.outcome(INPUT) == {"id": "error"}


ISSUES = {
    "condition": (table({"a": "tokens"}), "not-bool"),
    "derived": (table({"a": "flag"}, derived={"twice": "tokens * 2"}), "unused-derived"),
    "computed": (table({"a": ("flag", {"x": "tokn"})}), "unknown-name"),
    "outputs": (table({"a": "flag"}, outputs={"x": "tokens + ratio"}), "operands"),
    "enum": (table({"a": "kind == 'edt'"}), "never-true"),
    "an optional field that only another rule asks for": (
        table({"a": "has(input.note) && flag", "b": ("flag", {"x": "note"})}),
        "optional-field",
    ),
    "an optional field that its rule does not need": (
        table({"a": ("has(input.note) || flag", {"x": "note"})}),
        "optional-field",
    ),
    "an optional field that the rule knows to be missing": (
        table({"a": ("!has(input.note)", {"x": "note"})}),
        "optional-field",
    ),
    "cost": (
        table({"a": "big.all(a, big.all(b, big.all(c, a + b > c)))"}, constants={"big": list(range(200))}),
        "cost",
    ),
}


@pytest.mark.parametrize("name", ISSUES)
def test_issue(name):
    tested, code = ISSUES[name]
    compiled = compile_table(tested)
    assert [issue.code for _, issue in compiled.issues] == [code]


def test_what_a_rule_has_asked_for_is_there_when_it_decides():
    tested = table({"a": ("flag && has(input.note)", {"x": "note + '!'"}), "b": ("!!has(input.note)", {"x": "note"})})
    compiled = compile_table(tested)
    assert not compiled.issues
    assert decided(compiled, {**INPUT, "note": "n"}).outcome == {"id": "a", "x": "n!"}
    assert decided(compiled, {**INPUT, "note": "n", "flag": False}).outcome == {"id": "b", "x": "n"}
    assert decided(compiled, INPUT).outcome == {"id": "default"}


def test_cost_grows_with_what_is_declared():
    small, large = (compile_table(table({"a": text})).cost for text in ("names.all(a, a != '')", "flag"))
    assert small > large > 0


def test_nobody_can_change_what_later_decisions_share():
    made = compile_table(
        table({"a": ("flag", {"list": "names_known", "map": "sizes"}), "b": "true"}, constants={
            "names_known": ["x"], "sizes": {"x": [1]},
        })
    )  # fmt: skip
    first, traced = made.decide(INPUT), made.decide(INPUT, trace=True)
    plain = compile_table(table({"a": "flag", "b": "true"})).decide(INPUT)
    for change in (
        lambda: first.outcome["list"].append("y"),
        lambda: first.outcome["map"]["x"].append(2),
        lambda: plain.derived.update(x=1),
        lambda: traced.trace[1].values.update(x=1),
    ):
        with pytest.raises(TypeError):
            change()
    for decision in (made.decide(INPUT), made.decide(INPUT, trace=True), made.decide_once(INPUT)):
        assert decision.outcome == {"id": "a", "list": ["x"], "map": {"x": [1]}}
        assert not decision.derived


class Changing(dict):
    """A map that another thread changes while it is walked over."""

    def items(self):
        raise RuntimeError("dictionary changed size during iteration")


def test_an_input_that_changes_meanwhile_is_an_error_of_the_policy():
    made = compile_table(table({"a": "has(input.any) && any.exists(k, k == 'x')"}))
    for trace in (False, True):
        decision = made.decide({**INPUT, "any": Changing(x=1)}, trace=trace)
        assert decision.outcome == {"id": "error"}
        assert [error.where for error in decision.errors] == ["rule a"]


def test_no_stack_and_no_thread_ends_in_the_error_outcome(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    made = compile_table(table({"a": "(" * 60 + "1 / (tokens - 10) > 0" + ")" * 60}))
    made.prepare()
    monkeypatch.setattr(threading.Thread, "start", refuse)

    def deep(frames):
        return deep(frames - 1) if frames else made.decide(INPUT)

    for left in range(30, 90, 10):
        decision = deep(sys.getrecursionlimit() - len(inspect.stack()) - left)
        assert decision.outcome == {"id": "error"}
