"""Saving and resuming: what replay reads, what a resumed session needs, what is repaired."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, calls, events, fault, of, quick, says, texts, tool, usage, valid

from policyengine.check.replay import Options, replay
from policyengine.kinds.loop import Loop
from policyengine.runtime.events import CompactionEnded, ContextMeasured, HistoryRepaired, TurnEnded
from policyengine.runtime.messages import Image, Text, Thinking
from policyengine.runtime.provider import Finished, TextDelta, ThinkingBlock
from policyengine.runtime.tools import ToolOutput
from policyengine.sessions import read
from policyengine.source.errors import InputError

LOOK = ("c1", "look", {"what": "é"})


def _long(tmp_path: Path) -> tuple[Any, Path]:
    """A session with tools, an error, a compaction, an image, thinking and a failed turn."""

    async def run() -> Any:
        thinking = ThinkingBlock({"type": "thinking", "signature": "abc=="}, "hm")
        script = Script(
            [
                [thinking, *calls(LOOK, ("c2", "boom", {}), text="first")],
                says("seen"),
                says("word " * 3000, 12_000, 4000),
                says("a summary", 100, 5),
                says("after it"),
                [fault("auth", 401)],
            ]
        )
        made, _ = adapter(script, bundle=quick())
        one = made.session("big", tools=[tool(), tool("boom", lambda a: ToolOutput("bad", error=True))], window=20_000)
        await events(one.send("show me the file"))
        await events(one.send([Text("and this"), Image("image/png", "AAAA")]))
        await events(one.send("go on"))
        with pytest.raises(Exception, match="scripted"):
            await events(one.send("fails"))
        return one

    one = asyncio.run(run())
    one.save(tmp_path / "s.jsonl")
    return one, tmp_path / "s.jsonl"


def test_replay_reads_what_was_saved(tmp_path: Path) -> None:
    one, path = _long(tmp_path)
    session = read(path)
    assert session.format == "qwen-code"
    assert session.window == 20_000
    assert [turn.prompt for turn in session.turns] == ["show me the file", "and this", "go on", "fails"]
    assert [(c.name, c.result.error) for c in session.rounds[0].calls if c.result] == [("look", False), ("boom", True)]
    assert [c.tokens for c in session.recorded_compactions] == [16_000 + 2]
    assert session.rounds[0].usage is not None
    assert session.rounds[0].usage.input == 100
    assert not session.skipped
    rows = replay(session, Loop(builtin()), Options()).rounds
    assert [row.compaction_recorded for row in rows] == [False, False, False, True]
    del one


def test_a_session_in_which_nothing_has_happened_is_taken_up(tmp_path: Path) -> None:
    script = Script([says("hello", 100, 5)])
    made, _ = adapter(script)
    path = tmp_path / "s.jsonl"
    made.session("big", window=100_000, session_id="mine").save(path)
    assert (read(path).turns, read(path).skipped) == ((), {})
    for _ in range(2):
        again = made.resume(path, "big", window=100_000)
        assert json.loads(path.read_text())["sessionId"] == again._core.transcript.session_id == "mine"
        again.save(path)
    found = asyncio.run(events(again.send("hi")))
    assert not of(found, HistoryRepaired)
    assert [event.status for event in of(found, TurnEnded)] == ["completed"]
    assert len(script.requests[0].messages) == 1
    again.save(path)
    session = read(path)
    assert ([turn.prompt for turn in session.turns], session.skipped) == (["hi"], {})
    assert session.rounds[0].context == 0


def test_what_nothing_can_be_done_with_is_said(run: Any, tmp_path: Path) -> None:
    made, _ = adapter(Script([]))
    made.session("big", window=100_000).save(tmp_path / "s.jsonl")
    for command in ("compress", "probe"):
        found = run(command, tmp_path / "s.jsonl", "--bundle", "built-in")
        assert (found.status, found.err) == (
            2,
            f"policyengine: {tmp_path / 's.jsonl'}: this session has no round, so there is nothing to compact\n",
        )


def test_why_an_answer_ended_is_read_from_what_was_saved(tmp_path: Path) -> None:
    cut = [TextDelta("half an ans"), usage(), Finished("length", "length")]
    made, _ = adapter(Script([calls(("c1", "look", {})), says("fine"), cut]))
    one = made.session("big", tools=[tool()], window=100_000, always_summarize=True)
    for text in ("look", "go on"):
        asyncio.run(events(one.send(text)))
    one.save(tmp_path / "s.jsonl")
    session = read(tmp_path / "s.jsonl")
    assert [item.stop_reason for item in session.rounds] == ["STOP", "STOP", "MAX_TOKENS"]


def test_a_session_is_resumed_with_the_very_history(tmp_path: Path) -> None:
    one, path = _long(tmp_path)
    made, _ = adapter(Script([says("hello again")]))
    again = made.resume(path, "big", tools=[tool()], window=20_000)
    assert again.messages == one.messages
    assert again.id == one.id
    found = asyncio.run(events(again.send("more")))
    assert of(found, TurnEnded)[0].status == "completed"
    assert not of(found, HistoryRepaired)
    valid(again)
    again.save(path)
    assert len(read(path).turns) == 5
    blocks = [b for m in again.messages for b in m.blocks]
    assert not any(isinstance(b, Thinking) for b in blocks) or blocks


def test_thinking_images_and_provider_data_survive(tmp_path: Path) -> None:
    async def run() -> Any:
        raw = {"type": "thinking", "thinking": "…", "signature": "abc=="}
        script = Script([[ThinkingBlock(raw, "hm"), *says("seen")]])
        made, _ = adapter(script)
        one = made.session("big")
        await events(one.send([Text("look"), Image("image/png", "AAAA")]))
        return one

    one = asyncio.run(run())
    one.save(tmp_path / "s.jsonl")
    made, _ = adapter(Script([says("x")]))
    assert made.resume(tmp_path / "s.jsonl", "big").messages == one.messages


def test_a_resumed_session_without_a_count_is_measured_on_its_first_send(tmp_path: Path) -> None:
    async def run() -> None:
        script = Script([says("word " * 20_000, None, None)])
        made, _ = adapter(script)
        one = made.session("big", window=20_000)
        await events(one.send("x " * 5000))
        one.save(tmp_path / "s.jsonl")
        other, _ = adapter(Script([says("a summary"), says("fine")]), bundle=quick())
        again = other.resume(tmp_path / "s.jsonl", "big", window=20_000)
        assert again._core.last_prompt_tokens == 0
        found = await events(again.send("go on"))
        measured = of(found, ContextMeasured)[0]
        assert measured.tokens_source == "estimate"
        assert measured.tokens > 25_000
        assert of(found, CompactionEnded)[0].outcome == "accepted"
        valid(again)

    asyncio.run(run())


BREAKS: dict[str, Any] = {
    "a result is missing": lambda rs: [r for r in rs if r["type"] != "tool_result"],
    "a call is missing": lambda rs: [r for i, r in enumerate(rs) if i != 1],
    "a result is there twice": lambda rs: [r for r in rs for _ in range(2 if r["type"] == "tool_result" else 1)],
    "a prompt is there twice": lambda rs: [rs[0], *rs],
    "the file was cut after the call": lambda rs: rs[:2],
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_damaged_session_is_repaired_and_goes_on(name: str, tmp_path: Path) -> None:
    async def run() -> None:
        made, _ = adapter(Script([calls(LOOK, ("c2", "look", {})), says("seen")]))
        one = made.session("big", tools=[tool()])
        await events(one.send("show me the file"))
        one.save(tmp_path / "s.jsonl")
        records = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
        broken = BREAKS[name](records)
        (tmp_path / "s.jsonl").write_text("\n".join(json.dumps(r) for r in broken))
        other, _ = adapter(Script([says("fine")]))
        again = other.resume(tmp_path / "s.jsonl", "big", tools=[tool()])
        found = await events(again.send("go on"))
        assert len(of(found, HistoryRepaired)) == 1
        assert texts(again)[-1] == ("assistant", ["fine"])
        valid(again)

    asyncio.run(run())


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    _, path = _long(tmp_path)
    whole = path.read_text()
    path.write_text(whole[:-40])
    made, _ = adapter(Script([says("fine")]))
    valid(made.resume(path, "big"))


@pytest.mark.parametrize(
    ("text", "says_"),
    [("", "no session that was saved here"), ("{}\n{}", "no session"), ("{broken\n{}\n", ":1:"), ("[1]\n", "object")],
)
def test_what_is_no_saved_session_is_said_in_one_line(text: str, says_: str, tmp_path: Path) -> None:
    made, _ = adapter(Script([says("fine")]))
    (tmp_path / "s.jsonl").write_text(text)
    with pytest.raises(InputError, match=says_):
        made.resume(tmp_path / "s.jsonl", "big")


def test_a_session_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    one, path = _long(tmp_path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot be saved"):
        one.save(tmp_path / "nowhere" / "s.jsonl")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.jsonl"]
