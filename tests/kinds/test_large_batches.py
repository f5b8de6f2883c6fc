"""A batch of more calls than a policy's input takes: it decides as it would on all of them."""

from __future__ import annotations

from typing import Any

import pytest

from policyengine.kinds.batch import AfterBatch, Batch, BatchCall
from policyengine.kinds.bundle import builtin
from policyengine.kinds.loop import Loop
from policyengine.source.schema import load_schema

MOST = load_schema("inputs/routing")["properties"]["batch"]["maxItems"]
READ = BatchCall("read_file", "read")


def _decided(calls: list[BatchCall], **about: Any) -> AfterBatch:
    batch = Batch(calls, "what is in this folder?", distinct_calls=1, **about)
    return Loop(builtin()).after_batch(batch, history_tokens=1000, fast_auto=100_000)


def _errors(after: AfterBatch) -> list[str]:
    return [error.message for made in after.made for error in made.decision.errors]


SPECIAL = {
    "a changing call": (BatchCall("edit", "edit"), "write_tool", "undeclared"),
    "an error": (BatchCall("read_file", "read", error=True), "unresolved_error", "failed_tool"),
    "a call that declares nothing": (BatchCall("other_tool", "other"), None, "undeclared"),
    "a cancelled call": (BatchCall("read_file", "read", cancelled=True), None, "failed_tool"),
}


@pytest.mark.parametrize("number", [MOST, MOST + 1, 3 * MOST])
def test_of_one_sort_it_is_decided_as_a_small_one(number: int) -> None:
    after = _decided([READ] * number)
    assert not _errors(after)
    assert (after.directive["directive"], after.routing["decision"]) == ("skip", "fast")
    assert {len(made.input["batch"]) for made in after.made if "batch" in made.input} == {MOST}


@pytest.mark.parametrize("at", [0, MOST - 1, MOST, 2 * MOST])
@pytest.mark.parametrize("name", SPECIAL)
def test_one_call_of_another_sort_counts_wherever_it_stands(name: str, at: int) -> None:
    call, veto, reason = SPECIAL[name]
    calls = [READ] * (2 * MOST + 1)
    calls[at] = call
    after = _decided(calls)
    assert not _errors(after)
    assert after.routing["veto_reason"] == veto
    assert (after.directive["directive"], after.directive["reason"]) == ("continue", reason)


@pytest.mark.parametrize(
    ("about", "decision", "model"),
    [({"explicit_model": "chosen"}, "primary", "chosen"), ({"strategy": "always_fast"}, "fast", None)],
)
def test_what_a_person_chose_holds(about: dict[str, Any], decision: str, model: str | None) -> None:
    after = _decided([READ] * (MOST + 1), **about)
    assert (after.routing["decision"], after.routing["model"]) == (decision, model)


def test_of_more_sorts_than_the_input_takes_the_conservative_outcomes_hold_and_the_record_says_why() -> None:
    after = _decided([BatchCall(f"tool_{number}", "read") for number in range(MOST + 1)])
    assert (after.directive["directive"], after.routing["decision"]) == ("continue", "primary")
    assert {after.directive["reason"], after.routing["reason"]} == {"error"}
    assert any("batch" in message and str(MOST) in message for message in _errors(after))
