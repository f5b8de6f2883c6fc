"""A derived value may take the name of an input; in its own expression the name still means the input."""

import pytest

from policyengine.rules.compile import compile_table
from policyengine.rules.exact import decide_exactly
from policyengine.rules.table import Expression, Outcome, Rule, Table
from policyengine.source.place import Place

HERE = Place("x.yaml")


def expression(text):
    return Expression(text, HERE)


TABLE = Table(
    policy="t",
    version="1.0.0",
    kind="Table",
    input_schema={"type": "object", "properties": {"b": {"type": ["integer", "null"]}}, "required": ["b"]},
    rules=(Rule("one", expression("b > 0"), Outcome({}, {"b": expression("b"), "next": expression("next")}), HERE),),
    default=Outcome({}),
    on_error={"error": True},
    derived={"b": expression("b == null ? 7 : b + 1"), "next": expression("b + 100")},
)


@pytest.mark.parametrize(("given", "b"), [(1, 2), (None, 7)])
def test_its_own_name_is_the_input(given, b):
    compiled = compile_table(TABLE)
    assert not compiled.issues
    wanted = {"b": b, "next": b + 100}
    assert compiled.outcome({"b": given}) == wanted
    assert decide_exactly(TABLE, compiled.programs, {"b": given}, True).outcome == wanted


def test_an_input_of_another_type_is_an_error_and_no_endless_recursion():
    assert compile_table(TABLE).outcome({"b": "text"}) == {"error": True}


@pytest.mark.parametrize(
    "kind", [{"type": "integer"}, {"type": ["integer", "null"]}, {"type": "integer", "minimum": 0}]
)
def test_an_optional_property_gets_its_value_in_one_place(kind):
    table = Table(
        policy="t",
        version="1.0.0",
        kind="Table",
        input_schema={"type": "object", "properties": {"b": kind}},
        rules=(Rule("one", expression("b == 7"), Outcome({"said": True}), HERE),),
        default=Outcome({"said": False}),
        on_error={"error": True},
        derived={"b": expression("has(input.b) ? input.b : 7")},
    )
    compiled = compile_table(table)
    assert not compiled.issues
    for given, said in (({}, True), ({"b": 7}, True), ({"b": 8}, False)):
        assert compiled.outcome(given) == {"said": said}
        assert decide_exactly(table, compiled.programs, given, True).outcome == {"said": said}
