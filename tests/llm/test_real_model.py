"""A turn, a compaction and a fallback with a real model behind a real server: `make test-llm`.

A model of 135 million parameters says what it likes, so no test looks at its words.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from real_server import Server, free_port

from policyengine.runtime.adapter import Adapter
from policyengine.runtime.events import (
    AttemptEnded,
    CompactionEnded,
    CompactionStarted,
    ContextMeasured,
    Degraded,
    Event,
    FellBack,
    Retrying,
    RoundEnded,
    RoundStarted,
    Routed,
    TextChunk,
    TextWithdrawn,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from policyengine.runtime.history import problems
from policyengine.runtime.journal import ListSink
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import ProviderError
from policyengine.runtime.providers.opening import open_provider
from policyengine.runtime.session import Session
from policyengine.runtime.tools import Tool, ToolOutput
from policyengine.sessions import read

pytestmark = pytest.mark.llm

SAID = yaml.safe_load((Path(__file__).parent / "prompts.yaml").read_text(encoding="utf-8"))
KEY = "sk-test-0123456789abcdef0123456789"
CITIES = ["Berlin", "Paris"]
WHOLE = ("stop", "length")
"""How an answer in words may end: the model is cut off where it does not stop by itself."""


class Talk:
    """An adapter on the real server, and what its session told."""

    def __init__(self, server: Server, bundle: Path, primary: str = "smollm2", **more: Any) -> None:
        self.log = ListSink()
        real = open_provider("openai", api_key=KEY, base_url=server.url, plain_text=True)
        nobody = open_provider("qwen", api_key=KEY, base_url=f"http://127.0.0.1:{free_port()}/v1")
        self.adapter = Adapter(bundle, {"openai": real, "qwen": nobody}, log=self.log)
        self.session: Session = self.adapter.session(primary, **more)
        self.found: list[Event] = []

    async def say(self, message: str, watch: Callable[[Event], Awaitable[None] | None] | None = None) -> list[Event]:
        """The events of one turn; `watch` sees each as it comes."""
        found: list[Event] = []
        async with asyncio.timeout(180):
            async for event in self.session.send(message):
                found.append(event)
                if watch is not None and (waiting := watch(event)) is not None:
                    await waiting
        assert problems(self.session.messages) == []
        self.found += found
        return found

    async def close(self) -> None:
        await self.adapter.close()
        everything = repr(self.found) + json.dumps(self.log.records, default=str)
        assert KEY not in everything
        assert not any(text in everything for text in SAID.values())
        assert not of(self.found, Degraded)

    def records(self, kind: str) -> list[Any]:
        return [record for record in self.log.records if record["kind"] == kind]


def of(found: Sequence[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.blocks if isinstance(block, Text))


def weather(ran: list[Any]) -> Tool:
    """A tool whose arguments leave the model two words to choose from."""

    def run(arguments: Any) -> ToolOutput:
        ran.append(arguments)
        return ToolOutput(f"rain in {arguments['city']}", result_is_terminal=True)

    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": CITIES}},
        "required": ["city"],
        "additionalProperties": False,
    }
    return Tool("weather", "Tells the weather of a city.", schema, run, kind="fetch")


def test_a_turn(server: Server, bundle: Path, tmp_path: Path) -> None:
    async def run() -> Talk:
        talk = Talk(server, bundle)
        await talk.say(SAID["long"])
        talk.session.save(tmp_path / "session.jsonl")
        await talk.close()
        return talk

    talk = asyncio.run(run())
    found = talk.found
    chunks = of(found, TextChunk)
    assert len(chunks) > 1
    assert not any(chunk.provisional for chunk in chunks)
    user, answer = talk.session.messages
    assert text_of(user) == SAID["long"]
    assert text_of(answer) == "".join(chunk.text for chunk in chunks)
    assert of(found, TurnEnded)[0].status == "completed"
    (ended,) = of(found, RoundEnded)
    (attempt,) = of(found, AttemptEnded)
    assert ended.finish in WHOLE
    assert attempt.first_answer_ms is not None
    assert 0 < attempt.first_answer_ms < attempt.rt_ms

    # llama-cpp-python reports no usage in a stream: what is known is an estimate, and says so everywhere.
    assert (ended.tokens.prompt_source, ended.tokens.output_source) == ("estimated", "estimated")
    (measured,) = of(found, ContextMeasured)
    assert measured.tokens_source == "estimate"
    assert ended.tokens.prompt == measured.tokens
    assert ended.tokens.output > 0
    (record,) = talk.records("Ladder")
    assert (record["tokens_source"], record["response"]) == ("estimate", "text")
    assert record.get("prompt_tokens") is None
    assert record["model_actual"] == "smollm2"
    (saved,) = read(tmp_path / "session.jsonl").rounds
    assert saved.usage is None
    assert saved.stop_reason == {"stop": "STOP", "length": "MAX_TOKENS"}[ended.finish]

    # The same prompt, not streamed: then the server counts it with the model's own tokenizer.
    counted = server.ask(SAID["long"], tokens=1)["usage"]["prompt_tokens"]
    print(f"estimated {measured.tokens} tokens, the server counts {counted}")
    assert 0.7 < measured.tokens / counted < 1.3


def test_a_compaction(server: Server, bundle: Path) -> None:
    """The real model is its own summarizer; then the talk goes on."""

    async def run() -> tuple[Talk, list[int]]:
        talk = Talk(server, bundle)
        await talk.say(SAID["long"])
        await talk.say(SAID["long"].replace("garden", "orchard"))
        for _ in range(6):
            # Short answers fill the window later; a summary that the model does not bring to an end is not taken and
            # tried again at the next send.
            compacted = of(await talk.say(SAID["more"]), CompactionEnded)
            if compacted and compacted[0].outcome == "accepted":
                break
        sizes = [event.tokens for event in of(talk.found, ContextMeasured)]
        after = await talk.say(SAID["short"])
        await talk.close()
        return talk, [*sizes, of(after, ContextMeasured)[0].tokens]

    talk, sizes = asyncio.run(run())
    started, ended = of(talk.found, CompactionStarted), of(talk.found, CompactionEnded)
    outcomes = [event.outcome for event in ended]
    print(f"prompts of {sizes} tokens; compactions: {outcomes}")
    assert outcomes[-1] == "accepted"
    assert set(outcomes[:-1]) <= {"truncated"}
    assert not any(event.forced for event in ended)
    assert ended[-1].tokens_after < ended[-1].tokens_before
    # The next prompt is smaller than the one that led to the compaction, and below the threshold.
    assert sizes[-1] < sizes[-2]
    assert [event.status for event in of(talk.found, TurnEnded)] == ["completed"] * len(of(talk.found, TurnStarted))
    summary = talk.session.messages[0]
    assert summary.summary
    assert text_of(summary).strip()
    assert sum(message.summary for message in talk.session.messages) == 1
    # The summary was a call of its own, with the cap that the ladder gives.
    calls = [event for event in of(talk.found, AttemptEnded) if event.call == "summary"]
    assert len(calls) == len(ended)
    assert all(event.model == "smollm2" for event in calls)
    ladder = talk.records("Ladder")[-2]["outcome"]
    assert started[-1].cap == ladder["compact_max_output_tokens"]
    assert ladder["auto"] <= sizes[-2] < ladder["hard"]
    assert sizes[-1] < ladder["auto"]
    # Which rule decided, and what came of it.
    gates = [record["outcome"]["reason"] for record in talk.records("CompactionGate")]
    assert gates[-2:] == ["auto_reached", "below_auto"]
    assert gates.count("auto_reached") == len(ended)
    assert [record["outcome"]["result"] for record in talk.records("CompactionResult")] == outcomes


def _interrupts(server: Server) -> Callable[[Event], Awaitable[None] | None]:
    """Asks the server for something else as soon as the fast model has said a word: it then drops that stream."""
    asked: list[Any] = []

    def watch(event: Event) -> Awaitable[None] | None:
        if asked or not isinstance(event, TextChunk) or not event.provisional:
            return None
        asked.append(asyncio.create_task(asyncio.to_thread(server.ask, SAID["short"], tokens=1)))
        return None

    return watch


FALLBACKS = {
    "it calls a tool": ("smollm2-eager", {}, "tool_call_seen", "tool_call_seen", False),
    "nobody listens": ("smollm2-nowhere", {}, "error", "connection", False),
    "it is too slow": ("smollm2", {"fast_first_token_ms": 1}, "timeout", "timeout", False),
    "the server drops its stream": ("smollm2", {}, "error", "incomplete", True),
}


@pytest.mark.parametrize("case", FALLBACKS)
def test_a_fallback(server: Server, bundle: Path, tmp_path: Path, case: str) -> None:
    """Something really goes wrong with the fast model, and the primary one answers the same prompt."""
    fast, limits, reason, outcome, shown = FALLBACKS[case]
    ran: list[Any] = []

    async def run() -> Talk:
        talk = Talk(
            server,
            _with(bundle, tmp_path, limits),
            "smollm2-agent",
            tools=[weather(ran)],
            fast=fast,
            fast_routing=True,
            always_summarize=True,
        )
        await talk.say(SAID["weather"], _interrupts(server) if shown else None)
        await talk.close()
        return talk

    talk = asyncio.run(run())
    found = talk.found
    # The model wrote a call, the tool ran, and its result went to the fast model first.
    assert len(ran) == 1
    assert ran[0]["city"] in CITIES
    assert [event.error for event in of(found, ToolEnded)] == [False]
    assert [event.decision for event in of(found, Routed)] == ["fast"]
    assert [(event.model, event.tier) for event in of(found, RoundStarted)] == [
        ("smollm2-agent", "primary"),
        (fast, "fast"),
    ]
    (fell,) = of(found, FellBack)
    assert (fell.reason, fell.requested, fell.actual) == (reason, fast, "smollm2-agent")
    attempts = [(event.call, event.model, event.outcome) for event in of(found, AttemptEnded)]
    assert attempts == [
        ("primary", "smollm2-agent", "finished"),
        ("fast", fast, outcome),
        ("primary", "smollm2-agent", "finished"),
    ]
    assert not of(found, Retrying)
    # What the fast model had said is taken back, and only that.
    provisional = [chunk.attempt for chunk in of(found, TextChunk) if chunk.provisional]
    assert bool(provisional) == shown
    assert {event.attempt for event in of(found, TextWithdrawn)} == set(provisional)
    kept = "".join(chunk.text for chunk in of(found, TextChunk) if not chunk.provisional)
    assert text_of(talk.session.messages[-1]) == kept.removeprefix(text_of(talk.session.messages[1]))
    assert [message.role for message in talk.session.messages] == ["user", "assistant", "tool", "assistant"]
    assert of(found, TurnEnded)[0].status == "completed"
    # One prompt id from the first request to the last.
    (started,) = of(found, TurnStarted)
    assert {message.prompt_id for message in talk.session.messages} == {started.prompt_id}
    (routing,) = talk.records("Routing")
    assert (routing["prompt_id"], routing["fallback_reason"]) == (started.prompt_id, reason)
    assert (routing["model_requested"], routing["model_actual"]) == (fast, "smollm2-agent")


def _with(bundle: Path, folder: Path, limits: dict[str, int]) -> Path:
    """The bundle with other constants of SendLimits."""
    if not limits:
        return bundle
    shutil.copytree(bundle, folder / "policies")
    file = folder / "policies" / "send-limits.yaml"
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    document["spec"]["constants"] |= limits
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return folder / "policies"


def test_a_reader_that_leaves_frees_the_server_for_the_next_turn(server: Server, bundle: Path) -> None:
    async def run() -> Talk:
        talk = Talk(server, bundle)
        async for event in talk.session.send(SAID["long"]):
            if isinstance(event, TextChunk):
                break
        assert problems(talk.session.messages) == []
        assert [message.role for message in talk.session.messages] == ["user"]
        await talk.say(SAID["short"])
        await talk.close()
        return talk

    talk = asyncio.run(run())
    assert of(talk.found, TurnEnded)[-1].status == "completed"
    assert not of(talk.found, Retrying)
    assert [message.role for message in talk.session.messages] == ["user", "user", "assistant"]


def test_a_prompt_beyond_the_real_window_fails_and_the_talk_goes_on(server: Server, bundle: Path) -> None:
    """Where the stated window is too large no ladder helps; this server then breaks off before it says a word."""

    async def run() -> Talk:
        talk = Talk(server, bundle, window=100_000)
        with pytest.raises(ProviderError) as failed:
            await talk.say(" ".join([SAID["long"]] * 12))
        assert failed.value.kind == "incomplete"
        assert [message.role for message in talk.session.messages] == ["user"]
        talk.session.clear()
        await talk.say(SAID["short"])
        await talk.close()
        return talk

    talk = asyncio.run(run())
    assert [message.role for message in talk.session.messages] == ["user", "assistant"]


def test_the_command_runs_against_it_and_replay_reads_what_it_saved(
    server: Server, bundle: Path, tmp_path: Path
) -> None:
    def policyengine(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "policyengine", *arguments]
        environment = {**os.environ, "OPENAI_API_KEY": KEY}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=180, check=False
        )
        print(f"$ policyengine {' '.join(arguments)}", done.stdout, done.stderr, sep="\n")
        return done

    asked = (
        "run",
        SAID["short"],
        "--provider",
        "openai",
        "--base-url",
        server.url,
        "--primary",
        "smollm2",
        "--tools",
        "none",
    )
    done = policyengine(*asked, "--bundle", str(bundle), "--save", "s.jsonl", "--log", "log.jsonl")
    assert done.returncode == 0, done.stderr
    session = read(tmp_path / "s.jsonl")
    assert session.rounds[0].model == "smollm2"
    assert done.stdout.strip() == "".join(part.text or "" for part in session.rounds[0].output).strip()
    assert done.stdout.strip()
    kinds = {json.loads(line)["kind"] for line in (tmp_path / "log.jsonl").read_text().splitlines()}
    assert {"Ladder", "TokenEstimate", "SendLimits"} <= kinds
    again = policyengine(
        "run", SAID["more"], *asked[2:], "--bundle", str(bundle), "--resume", "s.jsonl", "--save", "s.jsonl"
    )
    assert again.returncode == 0, again.stderr
    replayed = policyengine("replay", "s.jsonl", "--bundle", str(bundle))
    assert replayed.returncode == 0, replayed.stderr
    assert "rounds 2, turns 2" in replayed.stdout
    assert KEY not in replayed.stdout + done.stderr + (tmp_path / "s.jsonl").read_text()
