"""The session loop: sends, stops, what goes wrong around it, and that it goes on. Rows R.. are faults of other
agents, by their id."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import (
    LOOK,
    Script,
    adapter,
    calls,
    events,
    fast_session,
    of,
    says,
    session,
    texts,
    tool,
    turn_of,
    usage,
    valid,
)

from policyengine.runtime.adapter import Adapter
from policyengine.runtime.errors import SessionBusyError
from policyengine.runtime.events import ContextMeasured, Degraded, LoopSuspected, RoundStarted, TextChunk, TurnEnded
from policyengine.runtime.history import summary_role
from policyengine.runtime.hooks import Hooks
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import CallStarted, Finished, TextDelta
from policyengine.source.errors import InputError


def test_r34_an_abort_during_a_tool_call_leaves_nothing_of_the_answer() -> None:
    async def run() -> None:
        script = Script([[TextDelta("I will"), CallStarted(0, "c1", "look"), 5.0]])
        one = session(script, tools=[tool()])
        stream = one.send("show me")
        async for event in stream:
            if isinstance(event, TextChunk):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert [m.role for m in one.messages] == ["user"]
        valid(one)

    asyncio.run(run())


ROLES = [
    ("at the start, before an answer", None, "assistant", "user"),
    ("at the start, before a question", None, "user", "user"),
    ("after a question", "user", "user", "assistant"),
    ("after a question, at the end", "user", None, "assistant"),
    ("after an answer", "assistant", "user", "user"),
]


@pytest.mark.parametrize(("says_", "before", "after", "expected"), ROLES, ids=[row[0] for row in ROLES])
def test_r38_the_summary_takes_the_role_that_its_visible_neighbours_leave(
    says_: str, before: Any, after: Any, expected: str
) -> None:
    def message(role: Any) -> Message | None:
        return Message(role, (Text("x"),)) if role else None

    assert summary_role(message(before), message(after)) == expected


def test_r29_every_compaction_passes_the_one_gate() -> None:
    """Only `Loop.before_send` asks the gate, and only the compactor calls a summarizer."""
    from pathlib import Path

    import policyengine.runtime as package

    folder = Path(package.__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    assert [name for name, text in sources.items() if "CompactionGate" in text] == []
    assert [name for name, text in sources.items() if ".summarize(" in text] == ["compaction.py"]
    assert sorted(name for name, text in sources.items() if ".history.compact(" in text) == ["compaction.py"]


def test_two_sends_at_once_are_a_clear_error() -> None:
    async def run() -> None:
        one = session(Script([[TextDelta("a"), 0.05, TextDelta("b"), usage(), Finished("stop", "stop")]]))
        first = asyncio.ensure_future(events(one.send("show me")))
        await asyncio.sleep(0.01)
        with pytest.raises(SessionBusyError, match="responding"):
            await events(one.send("and this"))
        found = await first
        assert of(found, TurnEnded)[0].status == "completed"
        assert texts(one) == [("user", ["show me"]), ("assistant", ["ab"])]

    asyncio.run(run())


async def _two_at_once() -> None:
    one = session(Script([says("fine")], pauses=True))
    done = await asyncio.gather(*(events(one.send(f"message {i}")) for i in range(3)), return_exceptions=True)
    assert sum(isinstance(result, SessionBusyError) for result in done) == 2
    assert [m.role for m in one.messages] == ["user", "assistant"]


def test_of_several_sends_at_once_one_gets_through() -> None:
    asyncio.run(_two_at_once())


@pytest.mark.soak
def test_of_several_sends_at_once_one_gets_through_a_thousand_times() -> None:
    async def run() -> None:
        for _ in range(1000):
            await _two_at_once()

    asyncio.run(run())


def test_a_chunk_that_comes_again_and_again_is_stopped() -> None:
    one = session(Script([[TextDelta("again ")] * 500]))
    found = turn_of(one)
    assert of(found, LoopSuspected)[0].what == "chunk"
    assert of(found, TurnEnded)[0].status == "stopped"
    assert [m.role for m in one.messages] == ["user"]


class FullDisk:
    def __init__(self, writes: int) -> None:
        self.left = writes

    def write(self, record: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")


def test_a_full_disk_under_the_log_is_said_once_and_the_loop_goes_on() -> None:
    made, _ = adapter(Script([calls(LOOK), says("fine")]), log=FullDisk(3))
    one = made.session("big", tools=[tool()])
    found = turn_of(one)
    assert [(e.what, e.error) for e in of(found, Degraded)] == [("log", "ENOSPC")]
    asyncio.run(made.close())
    assert of(found, TurnEnded)[0].status == "completed"


def test_a_policy_that_fails_ends_on_the_conservative_path_and_says_so(monkeypatch: Any) -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = fast_session(script)
    loop = one._core.live().loop
    monkeypatch.setattr(loop, "before_send", lambda *a, **k: 1 / 0)
    monkeypatch.setattr(loop, "after_batch", lambda *a, **k: 1 / 0)
    found = turn_of(one)
    assert {(e.what, e.error) for e in of(found, Degraded)} == {("policy", "ZeroDivisionError")}
    assert [r.model for r in script.requests] == ["big", "big"]
    assert of(found, TurnEnded)[0].status == "completed"


def test_hooks_see_and_change_decisions_and_a_broken_one_is_left_out() -> None:
    seen: list[str] = []

    def primary(after: Any) -> Any:
        from dataclasses import replace

        seen.append(after.routing["decision"])
        return replace(after, routing={**after.routing, "decision": "primary", "reason": "hook"})

    script = Script([calls(LOOK), says("fine")])
    one, _ = fast_session(script, hooks=Hooks(before_send=lambda b: 1 / 0, after_batch=primary))  # type: ignore[arg-type,return-value]
    found = turn_of(one)
    assert seen == ["fast"]
    assert [r.model for r in script.requests] == ["big", "big"]
    assert of(found, Degraded)[0].what == "hook"


def test_two_hundred_sessions_in_one_process() -> None:
    async def run() -> None:
        made, _ = adapter(Script([says("fine")], pauses=True))
        sessions = [made.session("big") for _ in range(200)]
        done = await asyncio.gather(*(events(one.send("hello there")) for one in sessions))
        assert all(of(found, TurnEnded)[0].status == "completed" for found in done)

    asyncio.run(run())


def test_what_cannot_be_sent_is_refused_in_words() -> None:
    one = session(Script([says("fine")]))
    with pytest.raises(InputError, match="empty"):
        one.send("  ")
    with pytest.raises(InputError, match="text"):
        one.send([])
    with pytest.raises(InputError, match="two tools"):
        session(Script([says("fine")]), tools=[tool(), tool()])
    with pytest.raises(InputError, match="kind"):
        session(Script([says("fine")]), tools=[tool(kind="nonsense")])
    with pytest.raises(InputError, match="provider"):
        Adapter(None, [])


def test_the_first_round_is_measured_and_the_tier_is_told() -> None:
    one = session(Script([says("fine", 74_000, 10)]), window=100_000)
    turn_of(one)
    measured = of(turn_of(one), ContextMeasured)[0]
    assert (measured.tier, measured.tokens_source, measured.window) == ("auto", "usage", 100_000)
    assert of(turn_of(one), RoundStarted)[0].tier == "primary"


def test_a_round_without_a_count_never_lowers_the_next_one() -> None:
    one = session(Script([says("fine", 74_000, 10), says("and this " * 40, None, None), says("yes")]), window=100_000)
    counted = [of(turn_of(one), ContextMeasured)[0].tokens for _ in range(3)]
    assert 74_010 < counted[1] < counted[2] < 75_000
