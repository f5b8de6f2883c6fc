"""Compiled tables against the interpreter: the same decision for every input, fitting or not."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policyengine.rules.compile import compile_table
from policyengine.rules.table import Expression, HitPolicy, Outcome, Rule, Table
from policyengine.source.place import Place
from tests.cel.generate import INPUTS, SCHEMA, broken_inputs, expressions
from tests.cel.suite import same
from tests.cel.test_hostile import MUTANTS, TEXTS
from tests.conftest import examples

HERE = Place("policy.yaml")
WORDS = {"action": ("add", "fix", "改"), "reason": ("why", "tests")}


def expression(text):
    return Expression(text, HERE)


@st.composite
def tables(draw):
    derived = {f"d{at}": expression(draw(expressions())) for at in range(draw(st.integers(0, 2)))}
    uses = [f"{name} == {name}" for name in derived] + [f"b && {name} == {name}" for name in derived]
    conditions = st.one_of(expressions(kinds=("bool",)), *([st.sampled_from(uses)] if uses else []))
    rules = tuple(
        Rule(
            f"r{at}",
            expression(draw(conditions)) if draw(st.integers(0, 9)) else None,
            Outcome({"at": at, "list": [at]}, {"more": expression(draw(expressions()))} if draw(st.booleans()) else {}),
            HERE,
        )
        for at in range(draw(st.integers(1, 3)))
    )
    outputs = {"out": expression(draw(expressions()))} if draw(st.integers(0, 3)) == 0 else {}
    return Table(
        policy="p",
        version="1",
        kind="Table",
        input_schema=SCHEMA,
        rules=rules,
        default=Outcome({"at": -1}),
        on_error={"at": "error"},
        hit=draw(st.sampled_from(HitPolicy)),
        words=WORDS,
        derived=derived,
        outputs=outputs,
    )


def agree(table, value):
    compiled = compile_table(table)
    exact = compiled.decide_once(value, trace=True)
    plain, traced = compiled.decide(value), compiled.decide(value, trace=True)
    shown = [rule.when.text if rule.when else None for rule in table.rules], value
    wanted = copy.deepcopy(exact.outcome)
    assert same(copy.deepcopy(compiled.outcome(value)), wanted), shown
    assert same(copy.deepcopy(plain.outcome), wanted), shown
    assert (plain.rules, plain.errors) == (exact.rules, exact.errors), shown
    assert same(copy.deepcopy(traced.outcome), wanted), shown
    assert (traced.rules, traced.errors) == (exact.rules, exact.errors), shown
    assert [step.rule for step in traced.trace] == [step.rule for step in exact.trace]
    for one, two in zip(traced.trace, exact.trace, strict=True):
        assert (one.status, one.when, one.error) == (two.status, two.when, two.error), shown
        assert same(dict(one.values), dict(two.values)), (shown, one, two)


QUICK = settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(tables(), INPUTS)
def test_fitting_inputs(table, value):
    agree(table, value)


@QUICK
@given(tables(), broken_inputs())
def test_inputs_that_do_not_fit(table, value):
    agree(table, value)


@pytest.mark.soak
@LONG
@given(tables(), st.one_of(INPUTS, broken_inputs()))
def test_many(table, value):
    agree(table, value)


@QUICK
@given(st.lists(st.one_of(TEXTS, MUTANTS), min_size=1, max_size=3), st.one_of(INPUTS, broken_inputs()))
def test_any_text_for_a_condition(texts, value):
    rules = tuple(Rule(f"r{at}", expression(text), Outcome({"at": at}), HERE) for at, text in enumerate(texts))
    agree(Table("p", "1", "Table", SCHEMA, rules, Outcome({"at": -1}), {"at": "error"}, words=WORDS), value)
