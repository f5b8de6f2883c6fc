"""CompressionTriggers before a send: they compact below the ladder, never hold it back, and are logged."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from runtime_kit import Script, adapter, calls, of, quick, says, tool, turn_of, valid

from policyengine.kinds.before_send import LoopState
from policyengine.kinds.loop import Loop
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.runtime.core import Core
from policyengine.runtime.events import CompactionEnded, CompactionStarted, Degraded, TurnEnded
from policyengine.runtime.messages import Call, Message, Result, Text
from policyengine.runtime.tools import ToolOutput
from policyengine.runtime.triggering import Triggering

WINDOW = 200_000
LONG = "x" * 40_000
BOTH = {"enabled": ["sliding_window", "share"]}


def _session(*streams: Any, **more: Any) -> tuple[Any, Script, Any]:
    script = Script(streams)
    made, log = adapter(script, bundle=more.pop("bundle", None) or quick(compression_triggers=BOTH))
    big = tool(run=lambda _: ToolOutput(LONG))
    return made.session("big", tools=[big], window=WINDOW, **more), script, log


def _decided(log: Any) -> list[str]:
    return [r["outcome"]["reason"] for r in log.records if r["kind"] == "CompressionTriggers"]


def test_a_share_of_the_window_compacts_before_the_ladder_does() -> None:
    one, script, log = _session(says(LONG, 149_000), says("a summary", 149_000), says("fine", 20_000))
    first = turn_of(one, "show me " * 50)
    assert not of(first, CompactionStarted)
    found = turn_of(one, "and more " * 500)
    ended = of(found, CompactionEnded)
    assert [(e.outcome, e.forced) for e in ended] == [("accepted", False)]
    assert 150_000 <= ended[0].tokens_before < 167_000
    assert _decided(log) == ["nothing_to_cut", "share"]
    gate = [r for r in log.records if r["kind"] == "CompactionGate"][-1]
    assert (gate["outcome"]["reason"], gate["tier"]) == ("triggered", "warn")
    assert "SECRET" not in str(log.records)
    assert len(script.requests) == 3
    valid(one)


def test_near_the_end_of_a_task_only_the_ladder_compacts() -> None:
    one, _, log = _session(says(LONG, 151_000), says("fine", 167_500), says("a summary", 150_000), says("fine", 9_000))
    turn_of(one, "show me " * 50)
    assert not of(turn_of(one, "looks good, ship it"), CompactionStarted)
    assert _decided(log)[-1] == "near_completion"
    found = turn_of(one, "ship it")
    assert of(found, CompactionEnded)[0].outcome == "accepted"
    assert _decided(log)[-1] == "ladder"


def test_old_turns_go_once_they_are_worth_a_call() -> None:
    def answer(request: Any) -> Any:
        if request.tool_choice == "none":
            return says("a summary", 60_000)
        return calls(("c", "look", {})) if request.messages[-1].role == "user" else says("fine", 30_000)

    one, _, log = _session(answer)
    found = [turn_of(one, f"show me number {number}") for number in range(5)]
    # The window holds four turns: the fifth lets what lies before them go, here before the round after its batch.
    assert [len(of(turn, CompactionStarted)) for turn in found] == [0, 0, 0, 0, 1]
    assert of(found[4], CompactionEnded)[0].outcome == "accepted"
    assert "sliding_window" in _decided(log)


def test_nothing_that_the_adapter_can_cut_is_nothing_to_cut() -> None:
    """The facts are those of the adapter's own cut: no try that must end in `nothing_to_summarise`."""
    one, script, log = _session(says("short", 160_000), says("fine", 160_000))
    turn_of(one, "show me")
    assert not of(turn_of(one, "more"), CompactionStarted)
    assert _decided(log)[-1] == "nothing_to_cut"
    assert len(script.requests) == 2


def test_an_open_breaker_holds_a_trigger_back() -> None:
    one, script, log = _session(says(LONG, 151_000), lambda r: says("", 0) if r.tool_choice == "none" else says("fine"))
    one._core.usage_stale = False
    turn_of(one, "show me " * 50)
    opened = one._core.now_ms()
    one._core.state = one._core.state.__class__(consecutive_failures=3, opened_at_ms=opened)
    before = len(script.requests)
    assert not of(turn_of(one, "and more"), CompactionStarted)
    gate = [r for r in log.records if r["kind"] == "CompactionGate"][-1]
    assert gate["outcome"]["reason"] == "breaker_open"
    assert len(script.requests) == before + 1


def test_a_bundle_without_triggers_asks_none_and_facts_that_fail_leave_the_ladder(monkeypatch: Any) -> None:
    from dataclasses import replace

    policies = {name: one for name, one in quick().policies.items() if name != "compression-triggers"}
    one, _, log = _session(says("fine"), bundle=replace(quick(), policies=policies))
    turn_of(one, "show me")
    assert _decided(log) == []
    monkeypatch.setattr(Triggering, "facts", lambda *a, **k: 1 / 0)
    one, _, log = _session(says("fine"))
    found = turn_of(one, "show me")
    assert [(e.what, e.error) for e in of(found, Degraded)] == [("policy", "ZeroDivisionError")]
    assert of(found, TurnEnded)[0].status == "completed"
    assert _decided(log) == []


@given(tokens=st.integers(0, 220_000), span=st.integers(0, 200_000), turns=st.integers(0, 9), ending=st.booleans())
def test_triggers_only_ever_add_to_what_the_ladder_compacts(tokens: int, span: int, turns: int, ending: bool) -> None:
    triggers = {
        "prompt": "ship it" if ending else "show me", "window": WINDOW, "span_tokens": span, "stale_tokens": 0,
        "turns_since_summary": turns, "messages_since_ending": None, "task_boundary": False,
    }  # fmt: skip
    loop, count = Loop(quick(compression_triggers=BOTH)), Count(Sizes(), Sizes(), last_prompt_tokens=tokens)
    plain = loop.before_send(LoopState(), count, window=WINDOW, session_prompt_count=1)
    asked = loop.before_send(LoopState(), count, window=WINDOW, session_prompt_count=1, triggers=triggers)
    assert asked.compact >= plain.compact
    assert (asked.tier, asked.forced) == (plain.tier, plain.forced)


def _history(rounds: int) -> list[Message]:
    found: list[Message] = []
    for number in range(rounds):
        path = {"file_path": f"/w/file{number % 40}.py", "old_string": "a", "new_string": "b"}
        found += [
            Message("user", (Text(f"please look at file {number}"),), f"p{number}"),
            Message("assistant", (Text("I look."), Call(f"c{number}", "Edit" if number % 3 else "Read", path))),
            Message("tool", (Result(f"c{number}", "Edit", (Text("done " * 40),)),)),
            Message("assistant", (Text(f"It holds {number} lines."),)),
        ]
    return found


def test_facts_kept_up_are_those_of_the_whole_history() -> None:
    one, _, _ = _session(says("fine"))
    live, messages = one._core.live(), _history(12)
    kept_up = Triggering()
    for end in (0, 1, 4, 5, 8, 20, 40, 48):
        now, options = messages[:end], {"tokens": 1_000, "window": WINDOW}
        assert kept_up.facts(live, now, end // 2, **options) == Triggering().facts(live, now, end // 2, **options)
    # After a compaction it is another history.
    shorter = [Message("user", (Text("a summary"),), summary=True), *messages[40:]]
    assert kept_up.facts(live, shorter, 3, **options) == Triggering().facts(live, shorter, 3, **options)


def test_a_send_of_a_long_session_waits_little_for_its_facts() -> None:
    one, _, _ = _session(says("fine"))
    core: Core = one._core
    live, messages, triggering = core.live(), _history(200), Triggering()
    spent = []
    for end in range(600, 800, 4):
        began = time.thread_time()
        triggering.facts(live, messages[:end], end - 40, tokens=100_000, window=WINDOW)
        spent.append(time.thread_time() - began)
    assert sorted(spent)[len(spent) // 2] < 0.01
