"""A person may type while a summary streams; what they send takes the summary's place, in all five places."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import Script, adapter, calls, events, of, says, texts, tool, usage, valid

from policyengine.runtime.errors import SessionBusyError
from policyengine.runtime.events import (
    ConfirmationAsked,
    Degraded,
    StateChanged,
    TextChunk,
    TextWithdrawn,
    ToolEnded,
    TurnEnded,
)
from policyengine.runtime.history import problems
from policyengine.runtime.places import Draft, LoopDetector, PendingDisplay, RecordingBuffer
from policyengine.runtime.provider import Finished, TextDelta
from policyengine.runtime.session import Session
from policyengine.runtime.tools import ToolOutput

LOG = ("c1", "git_log", {})


class Mirror(PendingDisplay):
    """Output that is shown somewhere else too."""


def _session(script: Script, *mirrors: Any) -> Session:
    made, _ = adapter(script)
    return made.session("big", tools=[tool("git_log", kind="read")], mirrors=mirrors)


async def _read(one: Session, message: str, into: list[Any]) -> None:
    async for event in one.send(message):
        into.append(event)


def test_a_new_message_discards_the_summary_in_all_five_places() -> None:
    async def run() -> None:
        mirror = Mirror()
        script = Script([calls(LOG), [TextDelta("The "), TextDelta("history "), 5.0, TextDelta("late")], says("two")])
        one = _session(script, mirror)
        first: list[Any] = []
        reading = asyncio.ensure_future(_read(one, "show the log", first))
        while one.display.text != "The history ":
            await asyncio.sleep(0.001)
        assert one.state == "summarizing"
        assert one.accepts_message
        assert not one.suggestions
        assert one.recording.text == mirror.text == "The history "
        second = await events(one.send("what is new?"))
        await reading
        # Pending display item, recording buffer, mirrored output; the loop detector lives and dies with the answer.
        assert one.display.text == one.recording.text == mirror.text == ""
        # Chat history: the tool result stays, the partial answer does not.
        assert texts(one) == [
            ("user", ["show the log"]),
            ("assistant", ["git_log"]),
            ("tool", ["git_log"]),
            ("user", ["what is new?"]),
            ("assistant", ["two"]),
        ]
        assert of(first, TurnEnded)[0].status == "discarded"
        assert len(of(first, TextWithdrawn)) == 1
        assert of(second, TurnEnded)[0].status == "completed"
        assert not any(
            "The" in str(record["message"]) for record in one._core.transcript.records if "message" in record
        )
        assert script.closed == len(script.requests) == 3
        assert one.suggestions
        valid(one)

    asyncio.run(run())


def test_the_loop_detector_forgets_what_was_taken_back() -> None:
    detector, display = LoopDetector(), PendingDisplay()
    draft = Draft((display, RecordingBuffer(), detector), lambda error: None)
    for _ in range(3):
        assert draft.add("again")
    assert detector.repeats == 3
    assert draft.discard()
    assert detector.repeats == 0
    assert not draft.add("late")
    assert not draft.commit()
    assert display.text == ""


def test_a_message_while_tools_run_or_an_answer_streams_is_refused() -> None:
    async def run() -> None:
        one = _session(Script([[TextDelta("a"), 0.05, usage(), Finished("stop", "stop")]]))
        reading = asyncio.ensure_future(_read(one, "hello there", []))
        await asyncio.sleep(0.01)
        assert one.state == "responding"
        assert not one.accepts_message
        with pytest.raises(SessionBusyError):
            await events(one.send("more"))
        await reading

    asyncio.run(run())


async def _race(steps: int) -> str:
    """Abort after so many steps of the loop: the last chunk may be arriving at that instant."""
    script = Script([calls(LOG), says("The history is short."), says("two")], pauses=True)
    one = _session(script)
    first: list[Any] = []
    reading = asyncio.ensure_future(_read(one, "show the log", first))
    while one.state != "summarizing":
        await asyncio.sleep(0)
    for _ in range(steps):
        await asyncio.sleep(0)
    second = await events(one.send("what is new?"))
    await reading
    status = of(first, TurnEnded)[0].status
    answers = [t for role, t in texts(one) if role == "assistant"]
    if status == "discarded":
        # Either nothing of the answer, or all of it where it was whole before the message came.
        kept = answers[1:-1]
        assert kept in ([], [["The history is short."]])
        shown = [i for i, e in enumerate(first) if isinstance(e, TextChunk)]
        withdrawn = [i for i, e in enumerate(first) if isinstance(e, TextWithdrawn)]
        if not kept and shown:
            assert withdrawn
            assert max(shown) < withdrawn[0], "a chunk slipped in after the answer was taken back"
    else:
        assert answers[1] == ["The history is short."]
    assert of(second, TurnEnded)[0].status == "completed"
    assert one.display.text == one.recording.text == ""
    assert problems(one.messages) == []
    assert [role for role, _ in texts(one)].count("user") == 2
    return str(status)


def test_an_abort_at_any_instant_keeps_all_of_an_answer_or_nothing() -> None:
    async def run() -> set[str]:
        return {await _race(steps) for steps in range(30)}

    assert asyncio.run(run()) >= {"discarded"}


@pytest.mark.soak
def test_a_thousand_aborts_at_the_instant_of_the_last_chunk() -> None:
    async def run() -> None:
        for number in range(1000):
            await _race(number % 20)

    asyncio.run(run())


def test_two_messages_while_summarizing_one_gets_through() -> None:
    async def run() -> None:
        script = Script([calls(LOG), [TextDelta("The "), 5.0], says("two")])
        one = _session(script)
        reading = asyncio.ensure_future(_read(one, "show the log", []))
        while one.display.text != "The ":
            await asyncio.sleep(0.001)
        done = await asyncio.gather(*(events(one.send(f"m{i}")) for i in range(3)), return_exceptions=True)
        await reading
        assert sum(isinstance(one_, SessionBusyError) for one_ in done) == 2
        valid(one)

    asyncio.run(run())


def test_a_summary_that_calls_tools_is_no_summary() -> None:
    script = Script([calls(LOG), calls(("c2", "git_log", {"n": 2}), text="wait"), says("fine")])
    one = _session(script)
    found = asyncio.run(events(one.send("show the log")))
    states = [event.state for event in of(found, StateChanged)]
    assert states == ["responding", "summarizing", "responding", "summarizing", "idle"]


def test_a_mirror_that_fails_is_left_out() -> None:
    class Broken:
        def add(self, text: str) -> None:
            raise OSError("gone")

        def commit(self) -> None:
            raise OSError("gone")

        discard = commit

    one = _session(Script([says("fine")]), Broken())
    found = asyncio.run(events(one.send("hello there")))
    assert {event.what for event in of(found, Degraded)} == {"place"}
    assert texts(one)[-1] == ("assistant", ["fine"])


@pytest.mark.parametrize("yes", [True, False])
def test_a_call_that_asks_waits_for_the_person(yes: bool) -> None:
    async def run() -> None:
        ran: list[Any] = []

        def do(arguments: Any) -> ToolOutput:
            ran.append(arguments)
            return ToolOutput("done")

        made, _ = adapter(Script([calls(("c1", "change", {"what": "x"})), says("ok")]))
        one = made.session("big", tools=[tool("change", do, kind="edit", check=lambda a: "ask")])
        found: list[Any] = []
        async for event in one.send("change the file"):
            found.append(event)
            if isinstance(event, ConfirmationAsked):
                assert one.state == "waiting_for_confirmation"
                assert one.confirm(event.call_id, yes)
                assert not one.confirm(event.call_id, yes)
        assert bool(ran) == yes
        assert of(found, ToolEnded)[0].cancelled != yes
        assert of(found, TurnEnded)[0].status == "completed"
        valid(one)

    asyncio.run(run())
