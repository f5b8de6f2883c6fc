"""What each attempt at a model has cost, in tokens and in time. Rows R.. are faults of other agents, by their id."""

from __future__ import annotations

from runtime_kit import LOOK, Script, Step, adapter, calls, fast_session, fault, of, says, session, tool, turn_of, usage

from policyengine.runtime.events import AttemptEnded
from policyengine.runtime.provider import CallStarted, Finished, ReasoningDelta, TextDelta, UsageReport


def test_r20_usage_of_an_aborted_stream_is_estimated_and_marked() -> None:
    script = Script([calls(LOOK), [TextDelta("x" * 400), fault("connection")], says("fine")])
    one, log = fast_session(script)
    found = turn_of(one)
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
    found = turn_of(one)
    aborted = next(e for e in of(found, AttemptEnded) if e.call == "fast")
    assert (aborted.tokens.prompt, aborted.tokens.prompt_source) == (10_007, "usage")
    assert aborted.tokens.output_source == "estimated"
    assert aborted.tokens.output is not None
    assert aborted.tokens.output >= 100


def test_r23_every_attempt_is_counted_at_its_own_model() -> None:
    script = Script([calls(LOOK, prompt=100), [TextDelta("half"), fault("connection")], says("fine", 150, 7)])
    one, _ = fast_session(script)
    turn_of(one)
    assert [t.prompt for t in one.usage["big"]] == [100, 150]
    assert len(one.usage["small"]) == 1
    assert one.usage["small"][0].output_source == "estimated"


def test_r26_first_chunk_first_reasoning_and_first_answer_have_a_time_each() -> None:
    answer: list[Step] = [
        TextDelta(""), 0.03, ReasoningDelta(""), 0.03, TextDelta("hi"), usage(), Finished("stop", "stop"),
    ]  # fmt: skip
    ended = of(turn_of(session(Script([answer]))), AttemptEnded)[0]
    assert ended.first_chunk_ms < ended.first_reasoning_ms == ended.ttft_ms < ended.first_answer_ms
