"""A dry run decides what the agent did: sessions that the adapter saved are replayed and held against its own log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, calls, changed, events, says, tool

from policyengine.check.replay import Options, rounds
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.loop import Loop
from policyengine.kinds.registry import KINDS
from policyengine.log.record import Recorder
from policyengine.log.replay_records import records
from policyengine.runtime.messages import Image, Message, Result, Text
from policyengine.runtime.provider import Finished, TextDelta, UsageReport
from policyengine.runtime.tools import ToolOutput
from policyengine.sessions import read

WINDOW = 200_000
CLEAR = "(clear)"

ONLY_LIVE = {
    "FastAccess": "reads the rollout's stage and a rate limit out of the state store",
    "HistoryRepair": "shapes a request for its provider; a replay sends none",
    "KillSwitch": "counts what became of fast streams",
    "Presentation": "follows what is on the screen while an answer streams",
    "Prevalidation": "looks at calls while their stream comes in",
    "Retry": "follows a stream that failed; only the answer that came is in a recording",
    "SendLimits": "bounds a stream in time and in output",
    "SummaryRound": "shapes a request; a replay sends none",
    "ToolLimits": "bounds a tool that runs",
}
"""Kinds that only the adapter asks, and why a replay cannot."""

Turn = tuple[str | list[Text | Image], list[tuple[str, dict[str, Any]]], str]
"""A message, the calls of the rounds before its answer, one a round, and the answer."""


def _prompt(messages: Sequence[Message]) -> int:
    """What a provider would count: more than an estimate does, as real ones do with system text and tools."""
    size = 0
    for message in messages:
        for block in message.blocks:
            parts = block.parts if isinstance(block, Result) else (block,)
            size += sum(len(getattr(part, "text", None) or "") or 60 for part in parts)
    return 9_000 + size // 3


class _Provider:
    """Plays the calls and the answer of one turn after the other."""

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.script = Script([self._answer])
        self._number = 0

    def _answer(self, request: Any) -> Any:
        if "Summarise the conversation" in getattr(request.messages[-1].blocks[-1], "text", ""):
            return says("what was done so far", _prompt(request.messages), 5)
        step = self.steps[0]
        if request.model != "small" or isinstance(step, str):
            # A fast stream that calls a tool is dropped, and the primary model is asked the same.
            del self.steps[0]
        if isinstance(step, str):
            return says(step, _prompt(request.messages), len(step) // 4)
        self._number += 1
        return calls((f"c{self._number}", *step), prompt=_prompt(request.messages))


def _run(turns: Sequence[Turn], bundle: Bundle, path: Path, window: int = WINDOW) -> list[dict[str, Any]]:
    """The adapter's records of a session, which is saved."""

    def give(arguments: dict[str, Any]) -> ToolOutput:
        if arguments.get("fails"):
            return ToolOutput("no such file", error=True)
        images = (Image("image/png", "AAAA" * 9),) if arguments.get("picture") else ()
        return ToolOutput("x" * int(arguments.get("size", 40)), images=images)

    async def run() -> list[dict[str, Any]]:
        provider = _Provider()
        made, log = adapter(provider.script, bundle=bundle)
        tools = [tool(name, give, kind=None) for name in ("Read", "Edit", "Bash", "Grep")]
        one = made.session("big", fast="small", fast_routing=True, fast_window=WINDOW, tools=tools, window=window)
        for message, wanted, answer in turns:
            if message == CLEAR:
                one.clear()
                continue
            provider.steps = [*wanted, answer]
            kind = "notification" if isinstance(message, str) and message.startswith("(cron)") else "interactive"
            await events(one.send(message, turn_kind=kind))
        one.save(path)
        await made.close()
        return log.records

    return asyncio.run(run())


def _replayed(bundle: Bundle, path: Path, **options: Any) -> list[dict[str, Any]]:
    session, recorder = read(path), Recorder(bundle, source="replay")
    rows = rounds(session, Loop(bundle), Options(**options))
    return [record for row in rows for record in records(row, session, recorder)]


ESTIMATED = {"tokens", "tokens_left"}
"""What rests on an estimate of system text and tools where nothing is counted yet: no recording holds those."""
OF_THE_CALL = {"summary_bytes", "output_tokens", "max_output_tokens", "tokens_after"}
"""What only the summarising call says; a replay takes the recording's word that it was good."""


def _decisions(found: Sequence[dict[str, Any]]) -> dict[tuple[int, str], list[Any]]:
    """Every decision with its input, by round and kind, less what a replay cannot know."""
    told: dict[tuple[int, str], list[Any]] = {}
    counted: set[int] = set()
    for record in found:
        if record["kind"] == "TokenEstimate" and record["outcome"]["tokens_source"] == "usage":
            counted.add(record["round"])
    for record in found:
        if record["kind"] in ONLY_LIVE or record["kind"] == "TokenEstimate":
            continue
        unknown = {"now_ms"} | (set() if record["round"] in counted else ESTIMATED)
        if record["kind"] == "CompactionResult":
            unknown |= OF_THE_CALL
        decided = [
            {name: value for name, value in record[part].items() if name not in unknown}
            for part in ("input", "outcome")
        ]
        told.setdefault((record["round"], record["kind"]), []).append(decided)
    return told


def _read(path: str, size: int = 40) -> tuple[str, dict[str, Any]]:
    return "Read", {"file_path": path, "size": size}


def _edit(path: str) -> tuple[str, dict[str, Any]]:
    return "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}


COMMIT = ("Bash", {"command": "git commit -am done"})


def _large(turns: int, *, verb: str = "look at") -> list[Turn]:
    """Turns that read 40 000 bytes, and a file that all of them read. To look is a query: its rounds are skipped."""
    return [
        (f"please {verb} part {at}", [_read(f"/w/part{at}.py", 40_000), _read("/w/a.py", 4_000)], "Looked. " * 9)
        for at in range(turns)
    ]


def _with(*enabled: str, **more: Any) -> Bundle:
    return changed(retry={"backoff_ms": [0]}, compression_triggers={"enabled": list(enabled), **more})


SLIDING = {"min_span_tokens": 20_000}
SESSIONS: dict[str, tuple[list[Turn], Callable[[], Bundle], int, set[str], set[str]]] = {
    "the sliding window, twice": (
        _large(9, verb="change"), lambda: _with("sliding_window", **SLIDING), WINDOW, {"sliding_window"}, {"accepted"},
    ),
    "rounds that are skipped": (
        _large(7), lambda: _with("sliding_window", **SLIDING), WINDOW, {"sliding_window"}, {"accepted"},
    ),
    "a share of the window": (
        _large(6, verb="change"), lambda: _with("share", share=0.3), WINDOW, {"share"}, {"accepted"},
    ),
    "what newer reads made stale": (
        [*_large(3, verb="change"), *_large(3, verb="change"), *_large(2)],
        lambda: _with("importance", min_span_tokens=5_000, stale_share=0.2), WINDOW, {"importance"}, {"accepted"},
    ),
    "a task that ended with a commit": (
        [
            *_large(2, verb="change"),
            ("now fix it", [_edit("/w/a.py"), COMMIT], "Done."),
            ("then change that", [_read("/w/z.py", 60_000), _edit("/w/z.py"), COMMIT], "I see."),
        ],
        lambda: _with("task_boundary", min_span_tokens=2_000), WINDOW, {"task_boundary"}, {"accepted"},
    ),
    "near the end of a task": (
        [*_large(4, verb="change"), ("change it, looks good, ship it", [_read("/w/b.py"), _read("/w/c.py")], "Fine.")],
        lambda: _with("sliding_window", **SLIDING), WINDOW, set(), set(),
    ),
    "the ladder alone": (_large(9, verb="change"), _with, 60_000, {"ladder"}, {"accepted"}),
    "no room for a summary": (
        [
            ("paste " + "words " * 25_000 + "end", [], "Read."),
            ("and this: " + "words " * 10_000 + "end", [_read("/w/a.py")], "Read it."),
        ],
        _with, 64_000, {"ladder"}, {"rejected"},
    ),
    "nothing that can be summarised": (
        [("change " + "words " * 25_000 + "end", [_read("/w/a.py"), _read("/w/b.py")], "Read it.")],
        _with, 40_000, {"ladder"}, {"rejected"},
    ),
    "the fast model, which falls back": (
        [("show me where it is", [("Grep", {"pattern": "a"}), ("Grep", {"pattern": "b"})], "There."), *_large(2)],
        _with, WINDOW, set(), set(),
    ),
    "errors, pictures and a notification": (
        [
            (
                [Text("why does this picture differ?"), Image("image/png", "AAAA" * 40)],
                [("Read", {"file_path": "/w/none", "fails": True}), ("Read", {"file_path": "/w/p", "picture": True})],
                "No file.",
            ),
            ("(cron) the build is red", [_read("/w/build.log", 9_000)], "I saw it."),
            ("show me the file", [_read("/w/a.py", 100)], "Here."),
            *_large(6, verb="change"),
        ],
        lambda: _with("sliding_window", **SLIDING), WINDOW, {"sliding_window"}, {"accepted"},
    ),
    "cleared in between": (
        [*_large(3, verb="change"), (CLEAR, [], ""), *_large(6, verb="change")],
        lambda: _with("sliding_window", **SLIDING), WINDOW, {"sliding_window"}, {"accepted"},
    ),
}  # fmt: skip
"""What is said and called, the bundle, the window; the triggers that fire, and what becomes of the compactions."""


@pytest.mark.parametrize("name", SESSIONS)
def test_a_replay_decides_in_each_round_what_the_adapter_logged(name: str, tmp_path: Path) -> None:
    turns, bundle, window, fired, became = SESSIONS[name]
    logged = _run(turns, bundle(), tmp_path / "s.jsonl", window)
    outcomes = [(record["kind"], record["outcome"]) for record in logged]
    assert {one["trigger"] for kind, one in outcomes if kind == "CompressionTriggers" and one["compress"]} == fired
    assert {one["result"] for kind, one in outcomes if kind == "CompactionResult"} == became
    replayed = _replayed(bundle(), tmp_path / "s.jsonl", fast_window=WINDOW)
    assert _decisions(replayed) == _decisions(logged)


def test_both_ask_the_same_kinds_but_for_those_that_need_a_live_stream(tmp_path: Path) -> None:
    """A kind that one of them begins to ask, and the other does not, has to be reasoned for here."""
    adapters, replays = set(), set()
    for number, (turns, bundle, window, _, _) in enumerate(SESSIONS.values()):
        path = tmp_path / f"{number}.jsonl"
        adapters |= {record["kind"] for record in _run(turns, bundle(), path, window)}
        replays |= {record["kind"] for record in _replayed(bundle(), path)}
    assert replays <= adapters
    assert adapters - replays <= set(ONLY_LIVE)
    assert not replays & set(ONLY_LIVE)
    assert set(ONLY_LIVE) <= set(KINDS)


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "claude-haiku-5-5", "big"])
def test_a_count_is_that_of_the_adapter_whatever_a_provider_puts_where(model: str, tmp_path: Path) -> None:
    """Cached tokens beside or inside the prompt, reasoning beside or inside the output: a recording has one sense."""

    async def run() -> list[dict[str, Any]]:
        counted = UsageReport(input=9_000, cache_read=4_000, output=700, reasoning=500)
        made, log = adapter(Script([[TextDelta("so it is"), counted, Finished("stop", "stop")]]))
        one = made.session(model)
        for _ in range(2):
            await events(one.send("what is up?"))
        one.save(tmp_path / "s.jsonl")
        return log.records

    logged = asyncio.run(run())
    replayed = _replayed(builtin(), tmp_path / "s.jsonl")
    tokens = [[r["input"]["tokens"] for r in found if r["kind"] == "Ladder"][1] for found in (logged, replayed)]
    assert tokens[0] == tokens[1] > 9_000


def test_what_tools_say_themselves_and_a_chosen_model_are_in_the_recording(tmp_path: Path) -> None:
    """Tools that the catalogue does not know, and models that a person or a skill chose, decide in a replay too."""
    tools = [
        tool("publish", lambda _: ToolOutput("out"), kind="edit"),
        tool("peek", lambda _: ToolOutput("in", skip_llm_round=True, result_is_terminal=True), kind="read", mcp=True),
        tool("advise", lambda _: ToolOutput("use another", model="claude-haiku-5-5"), kind="other"),
    ]

    async def run() -> list[dict[str, Any]]:
        provider = _Provider()
        made, log = adapter(provider.script, bundle=changed(directives={"mcp_allowlist": ["peek"]}))
        one = made.session("big", fast="small", fast_routing=True, fast_window=WINDOW, tools=tools, window=WINDOW)
        for message, names, chosen in (
            ("what is up?", ["publish"], None), ("and what is there?", ["peek"], None),
            ("what now?", ["publish"], "big"), ("and then?", ["advise", "publish"], None),
        ):  # fmt: skip
            provider.steps = [*((name, {}) for name in names), "So it is."]
            await events(one.send(message, model=chosen))
        one.save(tmp_path / "s.jsonl")
        return log.records

    logged = asyncio.run(run())
    replayed = _replayed(changed(directives={"mcp_allowlist": ["peek"]}), tmp_path / "s.jsonl", fast_window=WINDOW)
    assert _decisions(replayed) == _decisions(logged)
    routed = [record["outcome"]["reason"] for record in logged if record["kind"] == "Routing"]
    assert routed == ["write_tool", "fast", "explicit_model", "explicit_model", "explicit_model"]
    directed = [record["outcome"]["directive"] for record in logged if record["kind"] == "Directives"]
    assert directed == ["continue", "skip", "continue", "continue", "continue"]
