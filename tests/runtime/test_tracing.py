"""Spans: current names, requested and actual model apart, no content, and never in the way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import Script, adapter, calls, events, fault, of, quick, says, tool

from policyengine.runtime.events import Degraded, TurnEnded
from policyengine.runtime.tracing import OtelTracing

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed (extra: otel)")


def _traced() -> tuple[Any, Any]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OtelTracing(provider.get_tracer("test")), exporter


def test_a_turn_with_a_fallback() -> None:
    tracing, exporter = _traced()
    script = Script(
        [calls(("c1", "look", {"what": "SECRET"})), [fault("overloaded", 503)], says("SECRET answer", 150, 7)]
    )
    made, _ = adapter(script, tracing=tracing, bundle=quick())
    one = made.session("big", fast="small", fast_routing=True, fast_window=100_000, tools=[tool()])
    asyncio.run(events(one.send("show me the SECRET")))
    spans = {span.name: span for span in exporter.get_finished_spans()}
    chats = [span for span in exporter.get_finished_spans() if span.name.startswith("chat ")]
    assert [span.name for span in chats] == ["chat big", "chat small", "chat big"]
    last = dict(chats[-1].attributes)
    assert last["gen_ai.operation.name"] == "chat"
    assert last["gen_ai.provider.name"] == "scripted"
    assert last["gen_ai.request.model"] == last["gen_ai.response.model"] == "big"
    assert last["gen_ai.request.stream"] is True
    assert last["gen_ai.response.finish_reasons"] == ("stop",)
    assert last["gen_ai.usage.input_tokens"] == 150
    assert last["gen_ai.usage.output_tokens"] == 7
    assert last["gen_ai.response.time_to_first_chunk"] >= 0
    failed = dict(chats[1].attributes)
    assert failed["error.type"] == "overloaded"
    assert "gen_ai.response.model" not in failed
    assert failed["policyengine.usage.estimated"] is True
    rounds = [span for span in exporter.get_finished_spans() if span.name == "policyengine.round"]
    second = dict(rounds[1].attributes)
    assert (second["gen_ai.request.model"], second["gen_ai.response.model"]) == ("small", "big")
    assert second["policyengine.fallback.reason"] == "error"
    turn = spans["invoke_agent policyengine"]
    assert all(span.parent.span_id == turn.context.span_id for span in rounds)
    assert chats[1].parent.span_id == rounds[1].context.span_id
    assert spans["execute_tool look"].attributes["gen_ai.tool.name"] == "look"
    everything = str(
        [(s.name, dict(s.attributes), s.status.description, s.events) for s in exporter.get_finished_spans()]
    )
    assert "SECRET" not in everything


def test_a_compaction_is_marked() -> None:
    tracing, exporter = _traced()
    script = Script([says("word " * 4000, 9000, 5000), says("a summary", 100, 5), says("fine")])
    made, _ = adapter(script, tracing=tracing)
    one = made.session("big", window=20_000)
    asyncio.run(events(one.send("word " * 4000)))
    asyncio.run(events(one.send("go on")))
    marked = [s.attributes["gen_ai.conversation.compacted"] for s in exporter.get_finished_spans() if "round" in s.name]
    assert marked == [False, True]
    capped = [s.attributes.get("gen_ai.request.max_tokens") for s in exporter.get_finished_spans() if "chat" in s.name]
    assert capped[1] is not None


class Broken:
    def start(self, *arguments: Any) -> Any:
        raise RuntimeError("no collector")


def test_tracing_that_fails_is_said_once() -> None:
    made, _ = adapter(Script([says("fine")]), tracing=Broken())
    found = asyncio.run(events(made.session("big").send("hello there")))
    assert [e.what for e in of(found, Degraded)] == ["trace"]
    assert of(found, TurnEnded)[0].status == "completed"
