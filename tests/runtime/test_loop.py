"""The session loop: guard, fallback, retries, tools, records. Rows R.. are faults of other agents, by their id."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import jsonschema
import pytest
from runtime_kit import Script, Step, adapter, calls, events, fault, of, quick, says, session, texts, tool, usage, valid

from policyengine.runtime.adapter import Adapter
from policyengine.runtime.errors import NothingToRetryError, SessionBusyError
from policyengine.runtime.events import (
    AttemptEnded,
    ContextMeasured,
    Degraded,
    Event,
    FastTurnedOff,
    FellBack,
    LoopSuspected,
    Retrying,
    RoundStarted,
    Routed,
    TextChunk,
    TextWithdrawn,
    ToolEnded,
    TurnEnded,
    TurnFailed,
)
from policyengine.runtime.history import results_of, summary_role
from policyengine.runtime.hooks import Hooks
from policyengine.runtime.messages import Message, Result, Text
from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finished,
    ProviderError,
    ReasoningDelta,
    TextDelta,
    UsageReport,
)
from policyengine.runtime.session import Session
from policyengine.runtime.tools import ToolOutput
from policyengine.source.errors import InputError, MissingExtraError
from policyengine.source.schema import load_schema

LOOK = ("c1", "look", {"what": "a"})


def _fast(script: Script, **more: Any) -> tuple[Session, Any]:
    options = {key: more.pop(key) for key in ("tools", "strategy", "always_summarize", "fast_routing") if key in more}
    made, log = adapter(script, bundle=more.pop("bundle", None) or quick(), **more)
    options = {"tools": [tool()], "fast_routing": True, **options}
    return made.session("big", fast="small", window=200_000, fast_window=200_000, **options), log


def _run(one: Session, message: str = "show me the file") -> list[Any]:
    return asyncio.run(events(one.send(message)))


FAULTS: dict[str, list[Step]] = {
    "timeout before the first token": [5.0],
    "stall between chunks": [TextDelta("half"), 5.0],
    "429": [fault("rate_limit", 429)],
    "503 in the stream": [TextDelta("half"), fault("overloaded", 503)],
    "reset in the stream": [TextDelta("half"), fault("connection")],
    "clean cut without an end marker": [TextDelta("half")],
    "empty stream": [],
    "an SDK's own exception": [TextDelta("half"), ValueError("secret prompt")],
    "the provider ends with an error": [TextDelta("half"), Finished("error", "error")],
}
QUICK_LIMITS = {"send_limits": {"fast_first_token_ms": 30, "fast_stall_ms": 30, "first_token_ms": 30, "stall_ms": 30}}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_on_the_fast_model_goes_to_primary_with_the_same_prompt(name: str) -> None:
    script = Script([calls(LOOK), FAULTS[name], says("the answer")])
    one, log = _fast(script, bundle=quick(**QUICK_LIMITS))
    found = _run(one)
    reason = "timeout" if "time" in name or "stall" in name else "error"
    assert [e.reason for e in of(found, FellBack)] == [reason]
    assert [r.model for r in script.requests] == ["big", "small", "big"]
    assert script.requests[1].messages == script.requests[2].messages
    assert texts(one)[-1] == ("assistant", ["the answer"])
    assert len([m for m in one.messages if m.role == "user"]) == 1
    shown = of(found, TextChunk)
    assert len(of(found, TextWithdrawn)) == (1 if any(e.text == "half" for e in shown) else 0)
    assert all(e.provisional for e in shown if e.text == "half")
    routing = next(r for r in log.records if r["kind"] == "Routing")
    assert (routing["tier_requested"], routing["tier_actual"]) == ("fast", "primary")
    assert (routing["fallback_triggered"], routing["fallback_reason"]) == (True, reason)
    assert "secret" not in json.dumps(log.records, default=str) + repr(found)
    valid(one)


@pytest.mark.parametrize(
    "name", [n for n in FAULTS if n not in ("an SDK's own exception", "the provider ends with an error")]
)
def test_a_passing_fault_on_the_primary_model_is_tried_again(name: str) -> None:
    script = Script([FAULTS[name], says("the answer")])
    one = session(script, bundle=quick(**QUICK_LIMITS))
    found = _run(one)
    assert len(of(found, Retrying)) == 1
    assert texts(one) == [("user", ["show me the file"]), ("assistant", ["the answer"])]
    valid(one)


def test_the_guard_closes_a_fast_stream_at_the_first_sign_of_a_call() -> None:
    late: list[str] = []
    aborted: list[Step] = [
        TextDelta("I will "),
        CallStarted(0, "x", "look"),
        lambda: late.append("read on"),
        CallFinished(0, "x", "look", "{}"),
        Finished("tool_calls", "tool_calls"),
    ]
    script = Script([calls(LOOK), aborted, says("the answer")])
    one, log = _fast(script)
    found = _run(one)
    assert not late
    assert script.closed == 3
    assert of(found, TextWithdrawn)[0].attempt == of(found, TextChunk)[0].attempt == 2
    assert of(found, FellBack)[0].reason == "tool_call_seen"
    routing = next(r for r in log.records if r["kind"] == "Routing")
    assert routing["fallback_reason"] == "tool_call_seen"
    assert routing["fast_tokens_consumed"] > 0
    assert {r["prompt_id"] for r in log.records} == {one.messages[0].prompt_id}
    assert texts(one)[-1] == ("assistant", ["the answer"])
    valid(one)


def test_r1_r7_a_request_with_tools_that_fails_in_mid_text_is_sent_again_as_it_was() -> None:
    script = Script([[TextDelta("half an ans"), fault("connection")], says("the answer")])
    one = session(script, tools=[tool()], bundle=quick())
    _run(one)
    first, second = script.requests
    assert first.messages == second.messages
    assert first.tools == second.tools
    assert [b.text for m in second.messages for b in m.blocks if isinstance(b, Text)] == ["show me the file"]


def test_r2_with_fallback_switched_off_the_original_error_is_raised() -> None:
    error = fault("connection")
    script = Script([calls(LOOK), [TextDelta("half"), error]])
    one, _ = _fast(script, bundle=quick(retry={"backoff_ms": [0], "fallback": False}))

    async def run() -> list[Any]:
        found: list[Any] = []

        async def read() -> None:
            async for event in one.send("show me the file"):
                found.append(event)

        with pytest.raises(ProviderError) as raised:
            await read()
        assert raised.value is error
        return found

    found = asyncio.run(run())
    assert of(found, TurnFailed)[0].kind == "connection"
    assert of(found, TurnEnded)[0].status == "failed"
    assert [r.model for r in script.requests] == ["big", "small"]
    valid(one)


def test_r6_a_fallback_leaves_one_user_turn_with_one_id() -> None:
    script = Script([calls(LOOK), [fault("overloaded", 503)], says("the answer")])
    one, log = _fast(script)
    _run(one)
    users = [m for m in one.messages if m.role == "user"]
    assert len(users) == 1
    for request in script.requests:
        assert [m.prompt_id for m in request.messages if m.role == "user"] == [users[0].prompt_id]
    assert {r["prompt_id"] for r in log.records} == {users[0].prompt_id}


def test_r20_usage_of_an_aborted_stream_is_estimated_and_marked() -> None:
    script = Script([calls(LOOK), [TextDelta("x" * 400), fault("connection")], says("fine")])
    one, log = _fast(script)
    found = _run(one)
    aborted = next(e for e in of(found, AttemptEnded) if e.call == "fast")
    assert aborted.tokens.prompt_source == aborted.tokens.output_source == "estimated"
    assert aborted.tokens.prompt
    assert aborted.tokens.output == 100
    assert next(r for r in log.records if r["kind"] == "Routing")["tokens_source"] == "estimated"


def test_r21_each_field_of_an_aborted_stream_has_its_own_source() -> None:
    start = UsageReport(input=7, cache_read=10_000, output=1)
    script = Script([calls(LOOK), [start, TextDelta("x" * 400), CallStarted(0, "x", "look")], says("fine")])
    made, _ = adapter([Script([calls(LOOK)], name="anthropic")])
    made.providers["anthropic"] = script
    one = made.session("claude-opus-5", fast="claude-haiku-5-5", fast_routing=True, tools=[tool()])
    found = _run(one)
    aborted = next(e for e in of(found, AttemptEnded) if e.call == "fast")
    assert (aborted.tokens.prompt, aborted.tokens.prompt_source) == (10_007, "usage")
    assert aborted.tokens.output_source == "estimated"
    assert aborted.tokens.output is not None
    assert aborted.tokens.output >= 100


def test_r23_every_attempt_is_counted_at_its_own_model() -> None:
    script = Script([calls(LOOK, prompt=100), [TextDelta("half"), fault("connection")], says("fine", 150, 7)])
    one, _ = _fast(script)
    _run(one)
    assert [t.prompt for t in one.usage["big"]] == [100, 150]
    assert len(one.usage["small"]) == 1
    assert one.usage["small"][0].output_source == "estimated"


def test_r26_first_chunk_first_reasoning_and_first_answer_have_a_time_each() -> None:
    answer: list[Step] = [
        TextDelta(""), 0.03, ReasoningDelta(""), 0.03, TextDelta("hi"), usage(), Finished("stop", "stop"),
    ]  # fmt: skip
    ended = of(_run(session(Script([answer]))), AttemptEnded)[0]
    assert ended.first_chunk_ms < ended.first_reasoning_ms == ended.ttft_ms < ended.first_answer_ms


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


def test_r36_a_call_that_a_provider_gives_twice_has_one_result_an_id() -> None:
    script = Script([calls(LOOK, LOOK), says("fine")])
    one = session(script, tools=[tool()])
    _run(one)
    results = [r.call_id for m in one.messages for r in results_of(m)]
    assert results == ["c1", "c1~2"]
    assert not one._core.history.settle(Result("c9", "look", (Text("late"),)))
    valid(one)


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


def test_retry_after_is_honoured_and_too_long_a_wait_is_not_sat_through() -> None:
    script = Script([[fault("rate_limit", 429, after=0.15)], says("fine")])
    begun = time.monotonic()
    found = _run(session(script))
    assert time.monotonic() - begun >= 0.15
    assert of(found, Retrying)[0].delay_ms == 150

    async def refused() -> None:
        with pytest.raises(ProviderError):
            await events(session(Script([[fault("rate_limit", 429, after=900)]])).send("hello there"))

    begun = time.monotonic()
    asyncio.run(refused())
    assert time.monotonic() - begun < 5


def test_the_primary_model_is_tried_as_often_as_the_policy_says_and_the_turn_can_be_tried_again() -> None:
    async def run() -> None:
        script = Script([[fault("overloaded", 503)]])
        one = session(script, bundle=quick())
        with pytest.raises(ProviderError):
            await events(one.send("show me"))
        assert len(script.requests) == 3
        script.streams = [says("fine")]
        found = await events(one.retry())
        assert of(found, TurnEnded)[0].status == "completed"
        assert texts(one) == [("user", ["show me"]), ("assistant", ["fine"])]
        with pytest.raises(NothingToRetryError):
            one.retry()

    asyncio.run(run())


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


async def _hang(arguments: Any) -> str:
    await asyncio.sleep(60)
    return "never"


def _raise(arguments: Any) -> str:
    raise RuntimeError("no such thing")


def _exit(arguments: Any) -> str:
    raise SystemExit(3)


async def _cancel(arguments: Any) -> str:
    raise asyncio.CancelledError


def _sleep(arguments: Any) -> str:
    time.sleep(30)
    return "never"


TOOLS: dict[str, tuple[Any, bool, bool]] = {
    "raises": (_raise, True, False),
    "exits": (_exit, True, False),
    "hangs": (_hang, True, False),
    "hangs in a thread": (_sleep, True, False),
    "is cancelled": (_cancel, False, True),
    "gives no text": (lambda arguments: 17, False, False),
}


@pytest.mark.parametrize("name", TOOLS)
def test_whatever_a_tool_does_ends_in_a_result(name: str) -> None:
    run, error, cancelled = TOOLS[name]
    script = Script([calls(LOOK, ("c2", "look", {})), says("I see")])
    bundle = quick(tool_limits={"reading_timeout_ms": 50})
    one = session(script, tools=[tool(run=run)], bundle=bundle)
    begun = time.monotonic()
    found = _run(one)
    assert time.monotonic() - begun < 10
    ended = of(found, ToolEnded)
    assert [(e.error, e.cancelled) for e in ended] == [(error, cancelled)] * 2
    assert of(found, TurnEnded)[0].status == "completed"
    valid(one)


def test_a_call_of_an_unknown_tool_and_one_with_broken_arguments_get_a_result() -> None:
    broken: list[Step] = [
        CallFinished(0, "c1", "nowhere", "{}"),
        CallFinished(1, "c2", "look", '{"what": '),
        CallFinished(2, "c3", "look", '{"what": 5}'),
        CallFinished(3, "c4", "look", "[1]"),
        Finished("tool_calls", "tool_calls"),
    ]
    one = session(Script([broken, says("I see")]), tools=[tool()])
    found = _run(one)
    assert [e.error for e in of(found, ToolEnded)] == [True] * 4
    valid(one)


def test_a_huge_tool_result_is_cut_at_a_character_and_the_cut_is_said() -> None:
    one = session(Script([calls(LOOK), says("big")]), tools=[tool(run=lambda a: ToolOutput("é" * 5_000_001))])
    found = _run(one)
    ended = of(found, ToolEnded)[0]
    assert (ended.cut, ended.output_bytes) == (True, 10_000_002)
    part = results_of(one.messages[2])[0].parts[0]
    assert isinstance(part, Text)
    assert len(part.text.encode()) < 200_100
    assert "cut off" in part.text
    assert "�" not in part.text
    valid(one)


def test_a_batch_that_comes_again_and_again_is_stopped() -> None:
    one = session(Script([calls(LOOK)]), tools=[tool()])
    found = _run(one)
    assert of(found, LoopSuspected)[0].what == "batch"
    assert of(found, TurnEnded)[0].status == "stopped"
    valid(one)


def test_a_chunk_that_comes_again_and_again_is_stopped() -> None:
    one = session(Script([[TextDelta("again ")] * 500]))
    found = _run(one)
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
    found = _run(one)
    assert [(e.what, e.error) for e in of(found, Degraded)] == [("log", "ENOSPC")]
    asyncio.run(made.close())
    assert of(found, TurnEnded)[0].status == "completed"


def test_a_policy_that_fails_ends_on_the_conservative_path_and_says_so(monkeypatch: Any) -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = _fast(script)
    loop = one._core.live().loop
    monkeypatch.setattr(loop, "before_send", lambda *a, **k: 1 / 0)
    monkeypatch.setattr(loop, "after_batch", lambda *a, **k: 1 / 0)
    found = _run(one)
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
    one, _ = _fast(script, hooks=Hooks(before_send=lambda b: 1 / 0, after_batch=primary))  # type: ignore[arg-type,return-value]
    found = _run(one)
    assert seen == ["fast"]
    assert [r.model for r in script.requests] == ["big", "big"]
    assert of(found, Degraded)[0].what == "hook"


def test_a_skip_ends_the_turn_without_a_model_round() -> None:
    script = Script([calls(("c1", "read_file", {}))])
    one = session(script, tools=[tool("read_file")])
    found = _run(one, "show me the file")
    assert of(found, Routed)[0].decision == "skip"
    assert of(found, TurnEnded)[0].status == "skipped"
    assert len(script.requests) == 1
    # The next message follows a tool result; a strict provider gets an answer in between.
    asyncio.run(events(one.send("and the next?")))
    valid(one)


@pytest.mark.parametrize(("provider", "roles"), [
    ("anthropic", ["user", "assistant", "tool", "assistant", "user"]),
    ("scripted", ["user", "assistant", "tool", "user"]),
])  # fmt: skip
def test_the_gap_after_a_skip_is_closed_as_the_provider_wants_it(provider: str, roles: list[str]) -> None:
    script = Script([calls(("c1", "read_file", {})), says("fine")], name=provider)
    one = session(script, tools=[tool("read_file")])
    _run(one, "show me the file")
    _run(one, "and the next?")
    assert [m.role for m in script.requests[1].messages] == roles
    assert [m.role for m in one.messages] == ["user", "assistant", "tool", "user", "assistant"]


def test_always_summarize_overrides_a_skip() -> None:
    script = Script([calls(("c1", "read_file", {})), says("fine")])
    one = session(script, tools=[tool("read_file")], always_summarize=True)
    found = _run(one, "show me the file")
    assert of(found, Routed)[0].decision == "primary"


def test_an_explicit_model_beats_routing_and_lasts_for_its_turn() -> None:
    script = Script([calls(LOOK), says("fine"), calls(("c2", "look", {})), says("fine")])
    one, _ = _fast(script)
    asyncio.run(events(one.send("show me the file", model="chosen")))
    _run(one)
    assert [r.model for r in script.requests] == ["chosen", "chosen", "big", "small"]


def test_a_skill_sets_the_model_for_the_rest_of_the_turn() -> None:
    script = Script([calls(LOOK), says("fine"), says("later")])
    one, _ = _fast(script, tools=[tool(run=lambda a: ToolOutput("ok", model="skilled"))])
    _run(one)
    _run(one)
    assert [r.model for r in script.requests] == ["big", "skilled", "big"]


@pytest.mark.parametrize("kind", ["cron", "notification", "subagent"])
def test_routing_is_for_interactive_turns_only(kind: str) -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = _fast(script)
    asyncio.run(events(one.send("show me the file", turn_kind=kind)))
    assert [r.model for r in script.requests] == ["big", "big"]


def test_too_many_fallbacks_turn_fast_routing_off() -> None:
    turn = [calls(LOOK), [fault("connection")], says("fine")]
    script = Script([*turn, *turn, *turn, calls(LOOK), says("fine")])
    one, _ = _fast(script, bundle=quick(kill_switch={"min_fast_rounds": 3}))
    found = [_run(one) for _ in range(4)]
    assert [len(of(turn, FastTurnedOff)) for turn in found] == [0, 0, 1, 0]
    assert of(found[3], Routed)[0].reason == "not_activated"


def test_fast_routing_is_off_until_somebody_turns_it_on() -> None:
    script = Script([calls(LOOK), says("fine")])
    one, _ = _fast(script, fast_routing=None)
    _run(one)
    assert [r.model for r in script.requests] == ["big", "big"]


def test_every_decision_has_a_record_that_fits_the_schema_and_holds_no_prompt() -> None:
    script = Script([calls(("c1", "look", {"what": "SECRETARG"})), says("fine")])
    one, log = _fast(script)
    found = _run(one, "show me the SECRETPROMPT")
    kinds = {record["kind"] for record in log.records}
    wanted = {
        "TokenEstimate", "Ladder", "Breaker", "CompactionGate", "Tips", "SendLimits", "SummaryRound", "HistoryRepair",
        "PromptClass", "Directives", "Routing", "ToolLimits", "Presentation",
    }  # fmt: skip
    assert wanted <= kinds
    schema = load_schema("record")
    for record in log.records:
        jsonschema.validate(json.loads(json.dumps(record)), schema)
        assert record["source"] == "runtime"
        assert record["session_id"] == one.id
    everything = json.dumps(log.records) + repr(found) + repr(one.usage)
    assert "SECRET" not in everything


def test_records_tell_what_metrics_ask_of_rounds() -> None:
    script = Script(
        [calls(LOOK), [TextDelta("half"), fault("connection")], says("fine", 150, 7), calls(LOOK), says("ok")]
    )
    one, log = _fast(script)
    _run(one)
    _run(one, "show me more details")
    ladders = [r for r in log.records if r["kind"] == "Ladder"]
    assert [(r["response"], r["model_actual"], r["half_written_texts"]) for r in ladders[:2]] == [
        ("tool_call", "big", 0),
        ("text", "big", 0),
    ]
    assert (ladders[1]["model_requested"], ladders[1]["tier_actual"]) == ("small", "primary")
    assert (ladders[1]["prompt_tokens"], ladders[1]["output_tokens"]) == (150, 7)
    asked = [(r.get("more_detail"), r.get("previous_decision")) for r in log.records if r["kind"] == "PromptClass"]
    assert (True, "fast") in asked
    assert [previous for _, previous in asked].count("fast") == 1


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
    _run(one)
    measured = of(_run(one), ContextMeasured)[0]
    assert (measured.tier, measured.tokens_source, measured.window) == ("auto", "usage", 100_000)
    assert of(_run(one), RoundStarted)[0].tier == "primary"


def test_a_round_without_a_count_never_lowers_the_next_one() -> None:
    one = session(Script([says("fine", 74_000, 10), says("and this " * 40, None, None), says("yes")]), window=100_000)
    counted = [of(_run(one), ContextMeasured)[0].tokens for _ in range(3)]
    assert 74_010 < counted[1] < counted[2] < 75_000


def test_a_missing_sdk_is_raised_as_it_is_and_the_fast_model_is_given_up() -> None:
    missing = MissingExtraError("the-sdk", "its-extra", "the provider x")
    made, _ = adapter(Script([[missing], says("fine")]))
    one = made.session("big", window=100_000)
    found: list[Event] = []

    async def send() -> None:
        async for event in one.send("hello"):
            found.append(event)

    with pytest.raises(MissingExtraError) as raised:
        asyncio.run(send())
    assert raised.value is missing
    assert [event.kind for event in of(found, TurnFailed)] == ["missing_extra"]
    assert not of(found, Retrying)
    # Beside a primary model that answers it ends nothing.
    made, _ = adapter(Script([calls(("c1", "look", {})), [missing], says("fine")]), bundle=quick())
    other = made.session(
        "big", fast="small", window=100_000, fast_window=100_000, fast_routing=True, tools=[tool()],
        strategy="always_fast", always_summarize=True,
    )  # fmt: skip
    events_ = asyncio.run(events(other.send("what is there?")))
    assert [event.reason for event in of(events_, FellBack)] == ["error"]
    assert of(events_, TurnEnded)[0].status == "completed"
