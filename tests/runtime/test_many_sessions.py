"""Two hundred sessions at once in one process: nothing of one ends up in another, and nothing fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, calls, events, of, quick, says, tool, valid

from policyengine.log.check import check
from policyengine.log.read import records
from policyengine.log.record import Recorder
from policyengine.log.settings import logging_policy, open_sink
from policyengine.log.writer import Log
from policyengine.runtime.events import CompactionEnded, Degraded, TextChunk, TurnEnded
from policyengine.runtime.messages import Text
from policyengine.runtime.state.sqlite import SqliteStore
from policyengine.runtime.state.store import MemoryStore
from policyengine.runtime.tools import ToolOutput

SESSIONS = 200


def _answer(request: Any) -> list[Any]:
    """Says who asked, from what the request itself holds."""
    said = [
        block.text for m in request.messages for block in m.blocks if isinstance(block, Text) and "I am" in block.text
    ]
    name = said[-1].split("I am ")[1].split()[0]
    if request.tool_choice == "none":
        return says(f"summary: I am {name} still", 5_000)
    if request.messages[-1].role == "user":
        return [0.001, *calls((f"c{len(request.messages)}", "look", {"what": name}))]
    return [0.001, *says(f"answer for {name}", 150_500)]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_two_hundred_sessions_at_once(kind: str, tmp_path: Path) -> None:
    bundle = quick(compression_triggers={"enabled": ["share"]})
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "state.db")
    log = Log(Recorder(bundle, source="runtime"), [open_sink(tmp_path / "log.jsonl")], logging_policy(bundle))
    made, _ = adapter(Script([_answer]), bundle=bundle, store=store, log=log)
    look = tool(run=lambda arguments: ToolOutput(f"seen by {arguments['what']} " + "x" * 20_000))

    async def talk(number: int) -> list[Any]:
        one = made.session(
            "big", fast="small", fast_routing=True, window=200_000, fast_window=200_000, tools=[look],
            session_id=f"s{number}",
        )  # fmt: skip
        found = [event for turn in range(2) for event in await events(one.send(f"I am n{number} in turn {turn}"))]
        valid(one)
        text = "".join(event.text for event in of(found, TextChunk))
        assert text == f"answer for n{number}" * 2
        return found

    async def all_of_them() -> list[list[Any]]:
        try:
            return await asyncio.gather(*(talk(number) for number in range(SESSIONS)))
        finally:
            await made.close()

    every = asyncio.run(all_of_them())
    log.close()
    assert [event.status for found in every for event in of(found, TurnEnded)] == ["completed"] * 2 * SESSIONS
    # A machine that is busy with 200 sessions may be slow at a file: local state then goes on, and no turn is lost.
    slow = {"store"} if kind == "sqlite" else set()
    assert {event.what for found in every for event in of(found, Degraded)} <= slow
    assert sum(len(of(found, CompactionEnded)) for found in every) >= SESSIONS
    assert log.dropped == 0
    assert not check([tmp_path / "log.jsonl"]).problems
    seen = {record["session_id"] for record in records(tmp_path / "log.jsonl")}
    assert seen == {f"s{number}" for number in range(SESSIONS)}
