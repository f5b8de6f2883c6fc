"""Which model answers after tools, or that none does: skips, settings, explicit models, the kill switch."""

from __future__ import annotations

import asyncio

import pytest
from runtime_kit import LOOK, Script, calls, events, fast_session, fault, of, quick, says, session, tool, turn_of, valid

from policyengine.runtime.events import FastTurnedOff, Routed, TurnEnded
from policyengine.runtime.tools import ToolOutput


def test_a_skip_ends_the_turn_without_a_model_round() -> None:
    script = Script([calls(("c1", "read_file", {}))])
    one = session(script, tools=[tool("read_file")])
    found = turn_of(one, "show me the file")
    assert of(found, Routed)[0].decision == "skip"
    assert of(found, TurnEnded)[0].status == "skipped"
    assert len(script.requests) == 1
    # The next message follows a tool result; a strict provider gets an answer in between.
    asyncio.run(events(one.send("and the next?")))
    valid(one)


@pytest.mark.parametrize(("provider", "roles"), [
    ("anthropic", ["user", "assistant", "tool", "assistant", "user"]),
    ("scripted", ["user", "assistant", "tool", "user"]),
])  # fmt: skip
def test_the_gap_after_a_skip_is_closed_as_the_provider_wants_it(provider: str, roles: list[str]) -> None:
    script = Script([calls(("c1", "read_file", {})), says("fine")], name=provider)
    one = session(script, tools=[tool("read_file")])
    turn_of(one, "show me the file")
    turn_of(one, "and the next?")
    assert [m.role for m in script.requests[1].messages] == roles
    assert [m.role for m in one.messages] == ["user", "assistant", "tool", "user", "assistant"]


def test_always_summarize_overrides_a_skip() -> None:
    script = Script([calls(("c1", "read_file", {})), says("fine")])
    one = session(script, tools=[tool("read_file")], always_summarize=True)
    found = turn_of(one, "show me the file")
    assert of(found, Routed)[0].decision == "primary"


def test_an_explicit_model_beats_routing_and_lasts_for_its_turn() -> None:
    script = Script([calls(LOOK), says("fine"), calls(("c2", "look", {})), says("fine")])
    one, _ = fast_session(script)
    asyncio.run(events(one.send("show me the file", model="chosen")))
    turn_of(one)
    assert [r.model for r in script.requests] == ["chosen", "chosen", "big", "small"]


def test_a_skill_sets_the_model_for_the_rest_of_the_turn() -> None:
    script = Script([calls(LOOK), says("fine"), says("later")])
    one, _ = fast_session(script, tools=[tool(run=lambda a: ToolOutput("ok", model="skilled"))])
    turn_of(one)
    turn_of(one)
    assert [r.model for r in script.requests] == ["big", "skilled", "big"]


@pytest.mark.parametrize("kind", ["cron", "notification", "subagent"])
def test_routing_is_for_interactive_turns_only(kind: str) -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = fast_session(script)
    asyncio.run(events(one.send("show me the file", turn_kind=kind)))
    assert [r.model for r in script.requests] == ["big", "big"]


def test_too_many_fallbacks_turn_fast_routing_off() -> None:
    turn = [calls(LOOK), [fault("connection")], says("fine")]
    script = Script([*turn, *turn, *turn, calls(LOOK), says("fine")])
    one, _ = fast_session(script, bundle=quick(kill_switch={"min_fast_rounds": 3}))
    found = [turn_of(one) for _ in range(4)]
    assert [len(of(turn, FastTurnedOff)) for turn in found] == [0, 0, 1, 0]
    assert of(found[3], Routed)[0].reason == "not_activated"


def test_fast_routing_is_off_until_somebody_turns_it_on() -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = fast_session(script, fast_routing=None)
    turn_of(one)
    assert [r.model for r in script.requests] == ["big", "big"]
