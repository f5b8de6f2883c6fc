"""Windows and output limits that a person states: 0 is unknown, what is no number of tokens is refused, and a window
that nobody knows is said once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, calls, events, of, quick, says, tool

from policyengine.kinds.before_send import LoopState
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.runtime.advisor import Advisor
from policyengine.runtime.events import ContextMeasured, Degraded, WindowUnknown
from policyengine.runtime.state.store import MemoryStore
from policyengine.source.errors import InputError


@pytest.mark.parametrize("value", [-1, -200_000, 1.5, "200000", True, [1]], ids=repr)
@pytest.mark.parametrize("name", ["window", "fast_window", "max_output", "fast_max_output"])
def test_what_is_no_number_of_tokens_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    made, _ = adapter(Script([says("fine")]))
    with pytest.raises(InputError, match=rf"^{name} is a whole number of tokens"):
        made.session("big", fast="small", **{name: value})
    one = made.session("big")
    asyncio.run(events(one.send("hi")))
    one.save(tmp_path / "s.jsonl")
    with pytest.raises(InputError, match=rf"^{name} is a whole number of tokens"):
        made.resume(tmp_path / "s.jsonl", "big", fast="small", **{name: value})
    with pytest.raises(InputError, match=r"^window is a whole number of tokens"):
        one.switch_model("other", window=value)


@pytest.mark.parametrize("window", [0, None])
def test_a_window_of_0_is_an_unknown_one_for_every_policy(window: int | None) -> None:
    made, log = adapter(Script([calls(("c1", "look", {"what": "a"})), says("fine")]))
    one = made.session("big", fast="small", tools=[tool()], window=window, fast_window=window, fast_routing=True)
    found = asyncio.run(events(one.send("show me the file")))
    assert not of(found, Degraded)
    assert {event.window for event in of(found, ContextMeasured)} == {None}
    asyncio.run(made.close())
    assert log.records
    assert not [record for record in log.records if record.get("errors")]


@pytest.mark.parametrize("window", [0, None])
def test_the_advisor_takes_0_for_unknown(window: int | None) -> None:
    said: list[Any] = []
    advisor = Advisor(builtin(), MemoryStore(), scope="s", say=said.append)
    count = Count(Sizes(text_bytes=4000), Sizes())
    before = asyncio.run(advisor.before_send(LoopState(), count, window=window, prompts=1))
    assert (before.tier, before.compact, before.tip["tip"], said) == ("none", False, None, [])
    with pytest.raises(InputError):
        asyncio.run(advisor.before_send(LoopState(), count, window=-1, prompts=1))


def test_a_window_that_nobody_knows_is_said_once_for_each_model() -> None:
    made, _ = adapter(Script([says("fine")] * 3), bundle=quick())
    one = made.session("big", fast="small")
    first = of(asyncio.run(events(one.send("hi"))), WindowUnknown)
    assert [(event.model, event.call) for event in first] == [("big", "primary"), ("small", "fast")]
    assert "would_compress" in first[1].instead
    assert not of(asyncio.run(events(one.send("hi"))), WindowUnknown)
    one.switch_model("third")
    one.switch_model("big")
    again = of(asyncio.run(events(one.send("hi"))), WindowUnknown)
    assert [event.model for event in again] == ["third"]


def test_a_window_that_is_stated_or_listed_is_not_said() -> None:
    made, _ = adapter(Script([says("fine")]), bundle=quick())
    listed = builtin().serving("ModelCatalogue").spec["models"][0]["id"]
    one = made.session("big", fast=listed, window=100_000)
    assert not of(asyncio.run(events(one.send("hi"))), WindowUnknown)


def test_a_stated_output_limit_comes_before_the_catalogue_s() -> None:
    script = Script([says("fine")])
    made, _ = adapter(script, bundle=quick())
    one = made.session("big", window=100_000, max_output=1234)
    asyncio.run(events(one.send("hi")))
    assert script.requests[0].facts["max_output"] == 1234


def test_an_api_that_needs_a_cap_gets_the_stated_one() -> None:
    from policyengine.runtime.provider import ProviderError
    from policyengine.runtime.providers.anthropic_body import anthropic_body
    from policyengine.runtime.providers.streaming import Options

    script = Script([says("fine")])
    made, _ = adapter(script, bundle=quick())
    one = made.session("new-model", window=100_000, max_output=1234)
    asyncio.run(events(one.send("hi")))
    request = script.requests[0]
    assert anthropic_body(request, Options(), "anthropic")["max_tokens"] == 1234
    unknown = replace(request, facts={**request.facts, "max_output": None}, max_output_tokens=None)
    with pytest.raises(ProviderError, match=r"max_output.*--max-output"):
        anthropic_body(unknown, Options(), "anthropic")
