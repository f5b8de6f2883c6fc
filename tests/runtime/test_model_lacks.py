"""What a model lacks is a finding when a session begins (R12), and thoughts have room in a summary's cap (R11)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from runtime_kit import Script, adapter, events, of, quick, says, tool

from policyengine.kinds.bundle import Bundle, load
from policyengine.runtime.events import CapabilityMissing, CompactionStarted
from policyengine.runtime.providers.gemini import Gemini, GeminiOptions
from policyengine.runtime.providers.request_facts import tools_on_wire

CATALOGUE = """\
apiVersion: policyengine/v1
kind: ModelCatalogue
metadata: {name: models, version: 1.0.0, owner: team}
spec:
  usage:
    openai: {cached: inside, reasoning: inside, reasoning_replayed: false}
  models:
    - {id: large, provider: openai, family: f, window: 90000, max_output: 64000, thinking: none,
       tool_choice_none: true}
    - {id: picky, provider: openai, family: f, window: 90000, max_output: 64000, thinking: none,
       tool_choice_none: false}
    - {id: thinker, provider: openai, family: f, window: 90000, max_output: 64000, thinking: always,
       thinking_headroom: 3000,
       tool_choice_none: true}
"""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: Any) -> Bundle:
    path = tmp_path_factory.mktemp("models") / "models.yaml"
    path.write_text(CATALOGUE, encoding="utf-8")
    return replace(quick(), policies={**quick().policies, "models": load(path).policy("models")})


def _found(bundle: Bundle, primary: str, *, tools: bool = True, **more: Any) -> list[tuple[str, str]]:
    made, _ = adapter(Script([says("fine"), says("fine")]), bundle=bundle)
    one = made.session(primary, tools=[tool()] if tools else [], **more)
    first = of(asyncio.run(events(one.send("hi"))), CapabilityMissing)
    assert [(e.model, e.wish) for e in first] == [(f.model, f.wish) for f in one.findings]
    assert not of(asyncio.run(events(one.send("hi"))), CapabilityMissing)
    return [(e.model, e.wish) for e in first]


def test_r12_what_a_model_lacks_is_said_before_the_first_request(catalogue: Bundle) -> None:
    assert _found(catalogue, "large") == []
    assert _found(catalogue, "thinker") == [("thinker", "thinking_off")]
    assert _found(catalogue, "picky") == [("picky", "tool_choice_none")]
    assert _found(catalogue, "picky", tools=False) == []
    assert _found(catalogue, "not in the catalogue") == []


def test_r12_a_fast_model_is_only_asked_what_summary_rounds_ask(catalogue: Bundle) -> None:
    assert _found(catalogue, "large", fast="thinker") == []
    blunt = catalogue.policies["summary-round"].with_constants({"no_thinking": True, "no_tools": True})
    asked = replace(catalogue, policies={**catalogue.policies, "summary-round": blunt})
    # The built-in policy asks only models that can.
    assert _found(asked, "large", fast="thinker") == []


def test_r12_switching_to_another_model_looks_again(catalogue: Bundle) -> None:
    made, _ = adapter(Script([says("fine")]), bundle=catalogue)
    one = made.session("large", tools=[tool()])
    one.switch_model("thinker")
    one.switch_model("large")
    one.switch_model("thinker")
    assert [f.model for f in one.findings] == ["thinker"]
    assert one.findings[0].message == "`thinker` always thinks; its thinking cannot be turned off"


def _compacted(bundle: Bundle, model: str) -> tuple[Script, list[Any]]:
    script = Script([says("x" * 4000, 50_000), says("a summary", 100)])
    made, _ = adapter(script, bundle=bundle)
    one = made.session(model, tools=[tool()])
    asyncio.run(events(one.send("hi " * 200)))
    asyncio.run(events(one.send("more " * 200)))
    asyncio.run(one.compact())
    return script, of(list(one._unread), CompactionStarted)


def test_r11_thoughts_have_room_in_the_cap_that_is_said_and_sent(catalogue: Bundle) -> None:
    script, started = _compacted(catalogue, "large")
    assert script.requests[-1].max_output_tokens == started[0].cap == 20_000
    script, started = _compacted(catalogue, "thinker")
    assert script.requests[-1].max_output_tokens == started[0].cap == 23_000


def test_a_model_that_refuses_tool_choice_none_gets_no_tools_to_call_while_it_summarises(catalogue: Bundle) -> None:
    script, _ = _compacted(catalogue, "picky")
    assert tools_on_wire(script.requests[-1]) == ((), False)


@pytest.mark.parametrize(
    ("model", "tokens", "sent"),
    [
        ("gemini-3.8-flash", 100_000, 24_000),  # no off: thinking at its lowest, and room for it
        ("gemini-3.5-flash", 100_000, 21_000),
        ("gemini-2.5-flash", 100_000, 20_000),  # thinking is off: no room wanted
        ("gemini-3.8-flash", 1_048_576 - 500 - 23_000, 23_000),  # never more than the window leaves
    ],
)
def test_r11_gemini_gets_room_for_thoughts_on_the_wire(model: str, tokens: int, sent: int) -> None:
    bundle = quick()
    facts = bundle.serving("ModelCatalogue").outcome({"model": model})
    decided = bundle.serving("CompactionCall").outcome(
        {
            "window": facts["window"],
            "input_tokens": tokens,
            "cap": 20_000,
            "max_output": facts["max_output"],
            "thinking_headroom": facts["thinking_headroom"],
        }
    )
    script = Script([says("x" * 4000, 50_000), says("a summary", 100)])
    made, _ = adapter(script, bundle=bundle)
    one = made.session(model)
    asyncio.run(events(one.send("hi " * 200)))
    asyncio.run(events(one.send("hi " * 200)))
    asyncio.run(one.compact())
    request = replace(script.requests[-1], max_output_tokens=decided["max_output_tokens"])
    assert Gemini(GeminiOptions()).body(request)["config"]["maxOutputTokens"] == sent
