"""A turn that is cancelled anywhere leaves a valid history, and the session goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from runtime_kit import Script, adapter, calls, events, fault, of, quick, says, tool, valid

from policyengine.runtime.events import TextChunk, TextWithdrawn, TurnEnded
from policyengine.runtime.history import problems
from policyengine.runtime.messages import Text
from policyengine.runtime.provider import CallStarted, TextDelta
from policyengine.runtime.session import Session
from policyengine.runtime.tools import ToolOutput

LONG = "word " * 4000


async def _look(arguments: Any) -> ToolOutput:
    for _ in range(3):
        await asyncio.sleep(0)
    return ToolOutput("seen", result_is_terminal=True)


def _plain() -> Session:
    """Text, two calls at once, a fast round that calls a tool, a retry, an answer."""
    script = Script(
        [
            calls(("c1", "look", {"what": "a"}), ("c2", "look", {"what": "b"}), text="let me see"),
            [TextDelta("I could"), CallStarted(0, "x", "look")],
            [TextDelta("half an ans"), fault("connection")],
            says("the answer"),
        ],
        pauses=True,
    )
    made, _ = adapter(script, bundle=quick())
    return made.session(
        "big", fast="small", fast_routing=True, window=200_000, fast_window=200_000, tools=[tool(run=_look)]
    )


def _compacting() -> Session:
    """The second turn compacts first."""
    script = Script([says(LONG, 9_000, 5_000), says("summary of it all", 9_000, 20), says("done")], pauses=True)
    made, _ = adapter(script, bundle=quick())
    return made.session("big", window=20_000)


async def _first(session: Session) -> None:
    await events(session.send("show me all of " + LONG))


async def _cancelled_after(steps: int, make: Callable[[], Session], prepared: bool, inner: bool) -> bool:
    """Cancel the reader, or the turn itself, after so many steps of the loop. False where it had ended before."""
    session = make()
    if prepared:
        await _first(session)
    before = session.messages
    seen: list[Any] = []

    async def read() -> None:
        async for event in session.send("show me the files"):
            seen.append(event)

    task = asyncio.ensure_future(read())
    for _ in range(steps):
        await asyncio.sleep(0)
        assert problems(session.messages) == []
    ended = task.done()
    turn = session._turn
    if inner and turn is not None and turn.task is not None:
        turn.task.cancel()
    else:
        task.cancel()
    await asyncio.wait({task})
    valid(session)
    after = session.messages
    assert not any(isinstance(b, Text) and b.text in ("I could", "half an ans") for m in after for b in m.blocks), (
        "text of an aborted stream is in the history"
    )
    assert [m for m in after if m.role == "user" and m.prompt_id] or not before
    assert session.display.text == session.recording.text == ""
    assert session.state == "idle"
    # The session goes on.
    found = await events(session.send("and now?"))
    assert of(found, TurnEnded)[-1].status == "completed"
    valid(session)
    prompts = [m.prompt_id for m in session.messages if m.role == "user" and m.prompt_id]
    assert len(prompts) == len(set(prompts))
    return not ended


@pytest.mark.parametrize("inner", [False, True], ids=["reader", "turn"])
@pytest.mark.parametrize(("make", "prepared"), [(_plain, False), (_compacting, True)], ids=["plain", "compacting"])
def test_cancelled_at_every_step_of_the_loop(make: Callable[[], Session], prepared: bool, inner: bool) -> None:
    async def every() -> int:
        steps = 0
        while steps < 1000 and await _cancelled_after(steps, make, prepared, inner):
            steps += 1
        return steps

    steps = asyncio.run(every())
    assert 8 < steps < 1000, "the turn is too short to say anything"


def test_a_reader_that_stops_reading_cancels_the_turn() -> None:
    async def run() -> None:
        script = Script([[TextDelta("a"), 5.0], says("fine")])
        session = adapter(script)[0].session("big")
        stream = session.send("show me")
        async for event in stream:
            if isinstance(event, TextChunk):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert script.closed == 1
        assert [m.role for m in session.messages] == ["user"]
        found = await events(session.send("again"))
        assert of(found, TurnEnded)[0].status == "completed"
        valid(session)

    asyncio.run(run())


def test_text_that_was_shown_is_withdrawn_by_one_event_when_the_turn_is_cancelled() -> None:
    async def run() -> None:
        session = adapter(Script([[TextDelta("a"), TextDelta("b"), 5.0]]))[0].session("big")
        seen: list[Any] = []
        async for event in session.send("show me"):
            seen.append(event)
            if isinstance(event, TextChunk) and event.text == "b":
                assert session.display.text == "ab"
                assert session._turn is not None
                assert session._turn.task is not None
                session._turn.task.cancel()
        assert [e.attempt for e in of(seen, TextWithdrawn)] == [1]
        assert of(seen, TurnEnded)[0].status == "cancelled"
        assert [m.role for m in session.messages] == ["user"]

    asyncio.run(run())


@pytest.mark.parametrize("steps", range(6, 30, 4))
def test_what_was_decided_is_recorded_also_where_the_turn_is_cancelled(steps: int) -> None:
    async def run() -> None:
        script = Script([calls(("c1", "look", {"what": "a"})), [TextDelta("half"), 5.0]], pauses=True)
        made, log = adapter(script, bundle=quick())
        session = made.session("big", tools=[tool(run=_look)])
        task = asyncio.ensure_future(events(session.send("show me the files")))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        measured = session._core.rounds
        assert measured >= 1
        ladders = [record["round"] for record in log.records if record["kind"] == "Ladder"]
        assert ladders == list(range(1, measured + 1))
        assert not session._core.advisor._made

    asyncio.run(run())
