"""Every tool call ends in a result, whatever the tool or the model does. Rows R.. are faults of other agents, by
their id."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from runtime_kit import LOOK, Script, Step, calls, of, quick, says, session, tool, turn_of, valid

from policyengine.runtime.events import LoopSuspected, ToolEnded, TurnEnded
from policyengine.runtime.history import results_of
from policyengine.runtime.messages import Result, Text
from policyengine.runtime.provider import CallFinished, Finished
from policyengine.runtime.tools import ToolOutput


def test_r36_a_call_that_a_provider_gives_twice_has_one_result_an_id() -> None:
    script = Script([calls(LOOK, LOOK), says("fine")])
    one = session(script, tools=[tool()])
    turn_of(one)
    results = [r.call_id for m in one.messages for r in results_of(m)]
    assert results == ["c1", "c1~2"]
    assert not one._core.history.settle(Result("c9", "look", (Text("late"),)))
    valid(one)


async def _hang(arguments: Any) -> str:
    await asyncio.sleep(60)
    return "never"


def _raise(arguments: Any) -> str:
    raise RuntimeError("no such thing")


def _exit(arguments: Any) -> str:
    raise SystemExit(3)


async def _cancel(arguments: Any) -> str:
    raise asyncio.CancelledError


def _sleep(arguments: Any) -> str:
    time.sleep(30)
    return "never"


TOOLS: dict[str, tuple[Any, bool, bool]] = {
    "raises": (_raise, True, False),
    "exits": (_exit, True, False),
    "hangs": (_hang, True, False),
    "hangs in a thread": (_sleep, True, False),
    "is cancelled": (_cancel, False, True),
    "gives no text": (lambda arguments: 17, False, False),
}


@pytest.mark.parametrize("name", TOOLS)
def test_whatever_a_tool_does_ends_in_a_result(name: str) -> None:
    run, error, cancelled = TOOLS[name]
    script = Script([calls(LOOK, ("c2", "look", {})), says("I see")])
    bundle = quick(tool_limits={"reading_timeout_ms": 50})
    one = session(script, tools=[tool(run=run)], bundle=bundle)
    begun = time.monotonic()
    found = turn_of(one)
    assert time.monotonic() - begun < 10
    ended = of(found, ToolEnded)
    assert [(e.error, e.cancelled) for e in ended] == [(error, cancelled)] * 2
    assert of(found, TurnEnded)[0].status == "completed"
    valid(one)


def test_a_call_of_an_unknown_tool_and_one_with_broken_arguments_get_a_result() -> None:
    broken: list[Step] = [
        CallFinished(0, "c1", "nowhere", "{}"),
        CallFinished(1, "c2", "look", '{"what": '),
        CallFinished(2, "c3", "look", '{"what": 5}'),
        CallFinished(3, "c4", "look", "[1]"),
        Finished("tool_calls", "tool_calls"),
    ]
    one = session(Script([broken, says("I see")]), tools=[tool()])
    found = turn_of(one)
    assert [e.error for e in of(found, ToolEnded)] == [True] * 4
    valid(one)


def test_a_huge_tool_result_is_cut_at_a_character_and_the_cut_is_said() -> None:
    one = session(Script([calls(LOOK), says("big")]), tools=[tool(run=lambda a: ToolOutput("é" * 5_000_001))])
    found = turn_of(one)
    ended = of(found, ToolEnded)[0]
    assert (ended.cut, ended.output_bytes) == (True, 10_000_002)
    part = results_of(one.messages[2])[0].parts[0]
    assert isinstance(part, Text)
    assert len(part.text.encode()) < 200_100
    assert "cut off" in part.text
    assert "�" not in part.text
    valid(one)


def test_a_batch_that_comes_again_and_again_is_stopped() -> None:
    one = session(Script([calls(LOOK)]), tools=[tool()])
    found = turn_of(one)
    assert of(found, LoopSuspected)[0].what == "batch"
    assert of(found, TurnEnded)[0].status == "stopped"
    valid(one)
