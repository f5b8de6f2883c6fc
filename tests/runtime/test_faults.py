"""What a stream that fails comes to: fallback to primary, retries, and what is said. Rows R.. are faults of other
agents, by their id."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from runtime_kit import (
    LOOK,
    Script,
    Step,
    adapter,
    calls,
    events,
    fast_session,
    fault,
    of,
    quick,
    says,
    session,
    texts,
    tool,
    turn_of,
    valid,
)

from policyengine.runtime.errors import NothingToRetryError
from policyengine.runtime.events import Event, FellBack, Retrying, TextChunk, TextWithdrawn, TurnEnded, TurnFailed
from policyengine.runtime.messages import Text
from policyengine.runtime.provider import CallFinished, CallStarted, Finished, ProviderError, TextDelta
from policyengine.source.errors import MissingExtraError

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
    one, log = fast_session(script, bundle=quick(**QUICK_LIMITS))
    found = turn_of(one)
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
    found = turn_of(one)
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
    one, log = fast_session(script)
    found = turn_of(one)
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
    turn_of(one)
    first, second = script.requests
    assert first.messages == second.messages
    assert first.tools == second.tools
    assert [b.text for m in second.messages for b in m.blocks if isinstance(b, Text)] == ["show me the file"]


def test_r2_with_fallback_switched_off_the_original_error_is_raised() -> None:
    error = fault("connection")
    script = Script([calls(LOOK), [TextDelta("half"), error]])
    one, _ = fast_session(script, bundle=quick(retry={"backoff_ms": [0], "fallback": False}))

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
    one, log = fast_session(script)
    turn_of(one)
    users = [m for m in one.messages if m.role == "user"]
    assert len(users) == 1
    for request in script.requests:
        assert [m.prompt_id for m in request.messages if m.role == "user"] == [users[0].prompt_id]
    assert {r["prompt_id"] for r in log.records} == {users[0].prompt_id}


def test_retry_after_is_honoured_and_too_long_a_wait_is_not_sat_through() -> None:
    script = Script([[fault("rate_limit", 429, after=0.15)], says("fine")])
    begun = time.monotonic()
    found = turn_of(session(script))
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
