"""The scripted provider: what a script can play, and what is said about a wrong one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from policyengine.runtime.messages import Message, Result, Text
from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finished,
    ReasoningDelta,
    Request,
    TextDelta,
    ThinkingBlock,
    UsageReport,
)
from policyengine.runtime.providers.opening import NAMES, open_provider
from policyengine.runtime.providers.script import Script
from policyengine.runtime.providers.scripted import Scripted
from policyengine.source.errors import BundleError, InputError
from tests.runtime.providers.support import TOOL, Outcome, collect

HEAD = "apiVersion: policyengine/v1\nkind: Script\nstreams:\n"


def script(streams: str) -> Script:
    return Script.parse(HEAD + streams)


def ask(model: str = "m", *messages: Message, **fields: Any) -> Request:
    return Request(model, {}, fields.pop("system", ""), messages or (Message("user", (Text("hello"),)),), **fields)


def play(given: Scripted, asked: Request | None = None) -> Outcome:
    return asyncio.run(collect(given, asked or ask()))


def test_a_stream_of_everything() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    given = Scripted(
        script("""
  - events:
      - reasoning: hm
      - thinking_block: {type: thinking, signature: x}
      - delay_ms: 50
      - text: Hello
      - call: {id: c1, name: read_file, arguments: {path: é}, delay_ms: 20}
      - call: {name: grep, arguments: '{"broken'}
      - usage: {input: 100, cache_read: 75}
      - usage: {output: 9}
      - finish: {reason: tool_calls, raw: tool_use}
"""),
        sleep=sleep,
    )
    events = play(given).events
    assert events[:5] == [
        ReasoningDelta("hm"),
        ThinkingBlock({"type": "thinking", "signature": "x"}),
        TextDelta("Hello"),
        CallStarted(0, "c1", "read_file"),
        CallFinished(0, "c1", "read_file", '{"path":"é"}'),
    ]
    assert isinstance(events[6], CallFinished)
    assert events[6].arguments == '{"broken'
    assert events[6].id
    assert events[-2:] == [UsageReport(100, 75, None, 9, None), Finished("tool_calls", "tool_use")]
    assert waited == [0.05, 0.02]


def test_answers_are_taken_in_order_by_what_fits() -> None:
    given = Scripted(
        script("""
  - when: {model: fast}
    events: [text: from fast, finish: stop]
  - when: {last_role: tool, last_text_contains: found}
    events: [text: after the tool, finish: stop]
  - when: {tools: false, tool_choice: none, thinking: "off", system_contains: Summarise}
    times: always
    events: [text: a summary, finish: stop]
  - times: 2
    events: [text: anything, finish: stop]
""")
    )
    result = Message("tool", (Result("c1", "grep", (Text("found 3"),)),))
    summary = ask(tool_choice="none", thinking="off", system="Summarise this.")
    texts = [
        play(given, asked).text
        for asked in (ask(), ask("fast"), ask("m", result), summary, summary, ask(tools=(TOOL,)))
    ]
    assert texts == ["anything", "from fast", "after the tool", "a summary", "a summary", "anything"]
    assert given.script.unused() == 0
    assert len(given.requests) == 6
    left = play(given).error
    assert left is not None
    assert left.kind == "refused"
    assert "no answer left" in str(left)


@pytest.mark.parametrize(
    ("events", "kind", "after"),
    [
        ("[text: Hi, fault: {kind: rate_limit, status: 429, retry_after_s: 2}]", "rate_limit", 2),
        ("[fault: {kind: context_overflow, status: 400}]", "context_overflow", None),
        ("[text: Hi, cut: true]", "incomplete", None),
        ("[usage: {input: 7}, text: Hi]", "incomplete", None),
    ],
)
def test_faults(events: str, kind: str, after: float | None) -> None:
    error = play(Scripted(script(f"  - events: {events}\n"))).error
    assert error is not None
    assert (error.kind, error.retry_after_s) == (kind, after)
    assert (error.usage is not None) == ("usage" in events)


def test_a_stall_ends_only_with_its_reader() -> None:
    given = Scripted(script("  - events: [text: Hi, stall: true]\n"))

    async def run() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await collect(given, ask())

    asyncio.run(run())
    assert given.closed_early == 1


def test_a_reader_that_leaves_is_seen() -> None:
    given = Scripted(script("  - events: [text: a, text: b, finish: stop]\n"))

    async def run() -> None:
        events = given.stream(ask())
        await anext(events)
        await events.aclose()

    asyncio.run(run())
    assert given.closed_early == 1


def test_an_answer_over_its_cap() -> None:
    given = Scripted(script("  - events: [usage: {output: 76}, finish: stop]\n"))
    finished = play(given, ask(max_output_tokens=5)).finished
    assert finished is not None
    assert finished.over_cap


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "  - events: [txt: Hi]\n", "<script>:4:"),
        (HEAD + "  - events: [fault: {kind: rate_limits}]\n", "rate_limit"),
        (HEAD + "  - events: [finish: done]\n", "<script>:4:"),
        (HEAD + "  - when: {model: [a]}\n    events: []\n", "<script>:4:"),
        (HEAD + "  - events: [{text: a, delay_ms: 3}]\n", "<script>:4:"),
        ("kind: Script\nstreams: []\n", "<script>:"),
    ],
)
def test_a_wrong_script_is_told_with_its_place(text: str, says: str) -> None:
    with pytest.raises(BundleError) as caught:
        Script.parse(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_providers_open_by_name(tmp_path: Any) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(HEAD + "  - events: [finish: stop]\n", encoding="utf-8")
    names = {name: open_provider(name, **({"script": file} if name == "scripted" else {})).name for name in NAMES}
    assert names == {name: name.removesuffix("-responses") for name in NAMES}
    with pytest.raises(InputError, match="openai"):
        open_provider("opnai")
    with pytest.raises(InputError, match="--script"):
        open_provider("scripted")


def test_the_script_in_the_docs_can_be_played() -> None:
    page = (Path(__file__).parents[3] / "docs" / "providers.md").read_text(encoding="utf-8")
    given = Scripted(Script.parse(page.partition("```yaml\n")[2].partition("```")[0]))
    assert play(given).calls[0].name == "read_file"
    assert play(given, ask("m", Message("tool", ()))).kind == "rate_limit"
    assert play(given, ask(tool_choice="none")).text == "A short summary."
    assert play(given).text == "It says hello."
