"""Whole turns through the official SDKs against llmock: a server that this project did not write, with faults of its
own making and its own judgement of how a client takes them."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from runtime_kit import changed, of, texts, valid

from policyengine.runtime.adapter import Adapter
from policyengine.runtime.events import (
    CompactionEnded,
    FellBack,
    Retrying,
    RoundEnded,
    TextChunk,
    TextWithdrawn,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from policyengine.runtime.journal import ListSink
from policyengine.runtime.provider import ProviderError
from policyengine.runtime.tools import Tool, ToolOutput
from tests.runtime.peers.dialects import DIALECTS
from tests.runtime.providers.support import FAST, KEY, MODULES, PRIMARY, provider, skip_without_sdk

DATA = yaml.safe_load((Path(__file__).parent / "data" / "llmock_cases.yaml").read_text(encoding="utf-8"))
PROMPT = "show me the file with the Größe"
PATHS = {"anthropic": "/anthropic", "gemini": "/gemini"}


# The whole server is imported only where it is installed.
testing = pytest.importorskip("llmock.testing", reason="llmock is not installed (extra: dev)")
scenarios = pytest.importorskip("llmock.scenarios")
verdict = pytest.importorskip("llmock.verdict")
limits = pytest.importorskip("llmock.ratelimit")


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with testing.LLMockServer() as server:
        yield server


@pytest.fixture
def server(started: Any) -> Iterator[Any]:
    """llmock as if it had just been started."""
    started.state.reset()
    yield started
    started.state.limiter.configure(limits.LimitSettings())


@pytest.fixture(params=sorted(DIALECTS))
def name(request: pytest.FixtureRequest) -> str:
    skip_without_sdk(request.param)
    # A provider imports its SDK at the first request; where limits are short that is not to be timed.
    importlib.import_module(MODULES[request.param])
    found: str = request.param
    return found


def _cases(table: str) -> Any:
    return pytest.mark.parametrize("case", DATA[table], ids=lambda case: case["id"])


def _script(server: Any, behaviors: list[dict[str, Any]]) -> None:
    server.state.scenarios.add(*(scenarios.behavior_from_dict(one) for one in behaviors))


def _says(text: str) -> dict[str, Any]:
    return {"type": "reply", "text": text, "times": None}


def _requests(server: Any) -> list[Any]:
    found: list[Any] = server.state.journal.records(wait=5)
    return found


def _look(arguments: Any) -> ToolOutput:
    return ToolOutput("hay", result_is_terminal=True)


class Talk:
    """A session against llmock, and everything that came of it."""

    def __init__(self, server: Any, name: str, *, impatient: bool = False, **more: Any) -> None:
        self.server, self.name = server, name
        self.log = ListSink()
        given = provider(name, f"{server.url}{PATHS.get(name, '')}")
        bundle = changed(**DATA["constants"], **(DATA["impatient"] if impatient else {}))
        self.adapter = Adapter(bundle, {DIALECTS[name].name: given}, log=self.log)
        self.session = self.adapter.session(PRIMARY[name], **more)
        self.found: list[Any] = []

    async def say(self, message: str) -> list[Any]:
        """The events of one turn, and its error as the last of them."""
        found: list[Any] = []
        try:
            async with asyncio.timeout(20):
                async for event in self.session.send(message):
                    found.append(event)
        except ProviderError as error:
            found.append(error)
        self.found += found
        return found

    async def close(self) -> None:
        await self.adapter.close()
        valid(self.session)
        everything = repr(self.found) + json.dumps(self.log.records, default=str)
        assert KEY not in everything
        assert "Größe" not in everything

    def sent(self) -> list[str]:
        """The bodies of all requests, as text."""
        return [json.dumps(one.body, ensure_ascii=False) for one in _requests(self.server)]


def _turn(server: Any, name: str, message: str = PROMPT, **more: Any) -> Talk:
    async def run() -> Talk:
        talk = Talk(server, name, **more)
        await talk.say(message)
        await talk.close()
        return talk

    return asyncio.run(run())


def _tool() -> Tool:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return Tool("look", "Look at a file.", schema, _look, kind="read")


@_cases("turns")
def test_a_turn(server: Any, name: str, case: dict[str, Any]) -> None:
    expect = case["expect"]
    _script(server, [*case["behaviors"], _says(DATA["said"])])
    talk = _turn(server, name, impatient=case.get("impatient", False))
    found = talk.found
    assert of(found, TurnEnded)[0].status == expect["status"]
    assert [event.failure for event in of(found, Retrying)] == expect.get("retried", [])
    if "delays" in expect:
        assert [event.delay_ms for event in of(found, Retrying)] == expect["delays"]
    if "withdrawn" in expect:
        assert len(of(found, TextWithdrawn)) == expect["withdrawn"]
    if expect["status"] == "completed":
        assert texts(talk.session) == [("user", [PROMPT]), ("assistant", [DATA["said"]])]
        tokens = of(found, RoundEnded)[0].tokens
        assert (tokens.prompt_source, tokens.output_source) == ("usage", "usage")
    else:
        assert found[-1].kind == expect["failure"]
        assert texts(talk.session) == [("user", [PROMPT])]
    # The same request every time, with the person's text in it once.
    assert len(talk.sent()) == expect["requests"]
    assert len(set(talk.sent())) == 1
    assert talk.sent()[0].count(PROMPT) == 1
    assert [one.code for one in verdict.judge(_requests(server)).findings] == case.get("verdict", [])
    # A stream that stalls is left at once, not sat through.
    assert all((one.stall_waited or 0) < 5 for one in _requests(server))


@_cases("batches")
def test_a_batch_of_tools(server: Any, name: str, case: dict[str, Any]) -> None:
    expect = case["expect"]
    changes = case.get("special", {}).get(name, {})
    _script(server, [{**one, **changes.get(at, {})} for at, one in enumerate(case["behaviors"])])
    talk = _turn(server, name, tools=[_tool()])
    assert of(talk.found, TurnEnded)[0].status == "completed"
    assert [[event.name, event.error] for event in of(talk.found, ToolEnded)] == expect["calls"]
    assert [event.failure for event in of(talk.found, Retrying)] == expect.get("retried", [])
    # What the tool said, or that it could not be called, is in the last request, and an answer follows.
    results = talk.sent()[-1].count("hay")
    assert results == sum(not error for _, error in expect["calls"])
    assert [role for role, _ in texts(talk.session)][:3] == ["user", "assistant", "tool"]
    assert texts(talk.session)[-1][0] == "assistant"
    assert texts(talk.session)[-1][1][0].strip()
    assert not verdict.judge(_requests(server)).errors


@_cases("fast")
def test_what_the_fast_model_does_wrong_is_put_right_by_primary(server: Any, name: str, case: dict[str, Any]) -> None:
    expect = case["expect"]
    first = {"type": "reply", "tool_calls": [{"name": "look", "arguments": {"path": "a.md"}}]}
    on_fast = {"match": {"model": FAST[name]}}
    _script(
        server,
        [
            {**first, "match": {"model": PRIMARY[name]}},
            *({**one, **on_fast} for one in case["behaviors"]),
            # An answer of the fast model would be told from one of primary's by its words.
            {**_says("fast " * 12), **on_fast},
            {**_says(DATA["said"]), "match": {"model": PRIMARY[name]}},
        ],
    )
    talk = _turn(
        server, name, impatient=case.get("impatient", False), tools=[_tool()], fast=FAST[name], fast_routing=True,
        fast_window=200_000, always_summarize=True,
    )  # fmt: skip
    found = talk.found
    assert [event.reason for event in of(found, FellBack)] == [expect["reason"]]
    withdrawn = of(found, TextWithdrawn)
    assert len(withdrawn) == expect["withdrawn"]
    provisional = {event.attempt for event in of(found, TextChunk) if event.provisional}
    assert provisional == {event.attempt for event in withdrawn}
    assert texts(talk.session)[-1] == ("assistant", [DATA["said"]])
    assert [one.model for one in _requests(server)] == [PRIMARY[name], FAST[name], PRIMARY[name]]
    assert all(body.count(PROMPT) == 1 for body in talk.sent())
    assert len({event.prompt_id for event in of(found, TurnStarted)}) == 1
    assert all((one.stall_waited or 0) < 5 for one in _requests(server))


def test_a_prompt_that_the_server_refuses_as_too_long_is_compacted_and_sent_again(server: Any, name: str) -> None:
    async def run() -> Talk:
        talk = Talk(server, name)
        for number in range(3):
            await talk.say(f"part {number} " + "hay " * 400)
        server.state.limiter.configure(limits.LimitSettings(context_window=2000))
        await talk.say("and now " + "straw " * 600)
        await talk.close()
        return talk

    _script(server, [_says(DATA["said"])])
    talk = asyncio.run(run())
    assert [(event.outcome, event.forced) for event in of(talk.found, CompactionEnded)] == [("accepted", True)]
    assert [event.status for event in of(talk.found, TurnEnded)] == ["completed"] * 4
    statuses = [one.status for one in _requests(server)]
    assert statuses == [200, 200, 200, 400, 200, 200]
    assert len(talk.sent()[-1]) < len(talk.sent()[3])
    assert talk.session.messages[0].summary
    # The refused prompt is not sent again as it was.
    assert verdict.judge(_requests(server)).findings == ()
