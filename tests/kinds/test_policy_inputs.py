"""Inputs are held to the policy's input schema when a policy decides: what does not fit ends in `on_error`."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from policyengine.kinds.bundle import load
from policyengine.kinds.policy import Policy
from policyengine.source.errors import InputError

BUNDLE = load()
GATE = {"forced": False, "breaker": "open", "rescue": "available", "tokens": 170_000, "auto": 167_000}
SECRET = "please delete the secret files"


@pytest.mark.parametrize(
    ("policy", "input", "message"),
    [
        (
            "compaction-gate",
            {**GATE, "breaker": "opened"},
            "`breaker`: expected one of `closed`, `open`, `half_open`",
        ),
        ("compaction-gate", {**GATE, "askd": True}, "unknown key `askd`; did you mean `asked`?"),
        ("compaction-gate", {**GATE, "forced": 0}, "`forced`: expected true or false"),
        ("compaction-gate", {**GATE, "auto": 1.5}, "`auto`: expected a whole number or null"),
        ("compaction-gate", {name: GATE[name] for name in GATE if name != "rescue"}, "the input has no rescue"),
        ("floor", {"window": 200_000, "tokens": -5}, "`tokens`: expected at least 0"),
        ("floor", [], "the input: expected a mapping"),
        ("floor", None, "the input: expected a mapping"),
    ],
)
def test_an_input_that_does_not_fit_is_an_error_and_on_error_is_decided(policy: str, input: Any, message: str) -> None:
    asked = BUNDLE.policy(policy)
    for trace in (False, True):
        decision = asked.decide(input, trace=trace)
        assert [(error.where, error.message) for error in decision.errors] == [("input", message)]
        assert decision.outcome == asked.compiled.programs.on_error
        assert decision.rules == ()
        assert {step.status for step in decision.trace} == ({"skipped"} if trace else set())
    assert asked.outcome(input) == decision.outcome


def test_the_gate_stays_shut_where_the_breaker_is_misspelt() -> None:
    gate = BUNDLE.policy("compaction-gate")
    assert gate.decide(GATE).outcome["compact"] is False
    assert gate.decide({**GATE, "breaker": "opened"}).outcome["compact"] is False
    assert gate.decide({**GATE, "breaker": "closed"}).outcome["compact"] is True


def test_without_the_check_only_what_a_rule_reads_has_to_be_there() -> None:
    gate = BUNDLE.policy("compaction-gate")
    given = {"forced": False, "breaker": "closed", "tokens": 1, "auto": 2, "unknown": 1}
    assert gate.decide(given, check=False).errors == ()
    assert gate.decide(given).errors != ()
    assert gate.outcome(given, check=False) != gate.outcome(given)


@pytest.mark.parametrize("policy", BUNDLE.policies.values(), ids=lambda policy: policy.name)
def test_every_policy_takes_its_examples_and_refuses_anything_else(policy: Policy) -> None:
    examples = policy.input_schema.get("examples", ())
    assert examples
    for example in examples:
        decision = policy.decide(example)
        assert decision == policy.decide(example, check=False)
        assert policy.outcome(example) == decision.outcome
        for name in example:
            # No input of the default bundle takes a set, which no JSON has.
            found = policy.decide({**example, name: {SECRET}})
            assert [error.where for error in found.errors] == ["input"]
            assert name in found.errors[0].message
        found = policy.decide({**example, SECRET: SECRET})
        assert [error.where for error in found.errors] == ["input"]
        assert SECRET not in found.errors[0].message


def test_mappings_and_tuples_are_as_good_as_dicts_and_lists() -> None:
    routing = BUNDLE.policy("routing")
    example = dict(routing.input_schema["examples"][0])
    given = MappingProxyType({**example, "batch": tuple(MappingProxyType(call) for call in example["batch"])})
    assert routing.decide(given).outcome == routing.decide(example).outcome
    assert routing.decide(given).errors == ()
    wrong = MappingProxyType({**example, "batch": ({**example["batch"][0], "kind": "wriet"},)})
    assert [error.where for error in routing.decide(wrong).errors] == ["input"]


def test_a_value_that_cannot_be_judged_is_an_error_and_not_raised() -> None:
    deep: Any = {}
    for _ in range(20_000):
        deep = {"a": deep}
    found = BUNDLE.policy("retired-settings").decide({"settings": deep, "more": deep})
    assert [error.where for error in found.errors] == ["input"]


class TestConstants:
    def test_constants_are_replaced_one_after_the_other(self) -> None:
        floor = BUNDLE.policy("floor")
        names = list(floor.constants)[:2]
        changed = floor.with_constants({names[0]: 0.5}).with_constants({names[1]: floor.constants[names[1]]})
        assert changed.constants[names[0]] == 0.5
        assert floor.constants[names[0]] != 0.5
        assert changed.decide({"window": 200_000, "tokens": 5}).errors == ()

    @pytest.mark.parametrize(
        ("constants", "message"),
        [
            ({"pctt": 0.5}, "the policy floor has no constant `pctt`; did you mean `pct`?"),
            ({"nothing_like_it": 1}, "it has: "),
            ({"pct": "half"}, "the policy floor cannot be built with that: "),
            ({"pct": {"a": 1}}, "the policy floor does not take that: "),
            ([("pct", 0.5)], "constants are given by name"),
        ],
    )
    def test_what_the_policy_cannot_take_is_refused_at_once(self, constants: Any, message: str) -> None:
        with pytest.raises(InputError) as raised:
            BUNDLE.policy("floor").with_constants(constants)
        assert message in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_policy_is_shown_in_short() -> None:
    floor = BUNDLE.policy("floor")
    assert repr(floor) == f"<Policy floor {floor.version} (Ladder)>"
