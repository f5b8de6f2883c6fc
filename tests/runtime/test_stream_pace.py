"""How a stream is paced: the first text is read at once, silence has a bound, and a slow reader has none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from runtime_kit import Script, changed, events, of, says, session, usage

from policyengine.runtime.events import Retrying, TextChunk, TurnEnded
from policyengine.runtime.patience import Patience
from policyengine.runtime.provider import Finished, TextDelta


def test_the_first_text_is_read_before_the_stream_that_is_already_there_is_worked_off() -> None:
    given = [0]

    def count() -> None:
        given[0] += 1

    steps: list[Any] = []
    for number in range(100):
        steps += [count, TextDelta(f"word {number} ")]
    one = session(Script([[*steps, usage(), Finished("stop", "stop")]]))

    async def run() -> list[int]:
        return [given[0] async for event in one.send("hi") if isinstance(event, TextChunk)]

    at = asyncio.run(run())
    assert at[0] == 1
    assert max(have - number for number, have in enumerate(at, start=1)) <= 16


def test_a_reader_that_takes_its_time_is_no_silence_of_the_stream() -> None:
    limits = {"first_token_ms": 40, "stall_ms": 40}
    one = session(Script([says("hello")]), bundle=changed(send_limits=limits, retry={"backoff_ms": [0]}))

    async def run() -> list[Any]:
        found = []
        async for event in one.send("hi"):
            found.append(event)
            if isinstance(event, TextChunk):
                await asyncio.sleep(0.1)
        return found

    found = asyncio.run(run())
    assert not of(found, Retrying)
    assert of(found, TurnEnded)[0].status == "completed"


def test_many_short_waits_may_take_longer_than_one() -> None:
    limits = {"first_token_ms": 150, "stall_ms": 150}
    steps: list[Any] = [step for number in range(8) for step in (0.05, TextDelta(f"{number} "))]
    one = session(Script([[*steps, usage(), Finished("stop", "stop")]]), bundle=changed(send_limits=limits))
    assert not of(asyncio.run(events(one.send("hi"))), Retrying)


def test_patience_is_over_where_a_wait_is_too_long_and_a_cancellation_stays_one() -> None:
    async def waits(*seconds: float) -> int:
        done = 0
        async with Patience() as patience:
            for one in seconds:
                patience.allow(0.05)
                await asyncio.sleep(one)
                patience.rest()
                done += 1
            await asyncio.sleep(0.1)
        return done

    async def run() -> None:
        assert await waits(0.03, 0.03, 0.03) == 3
        with pytest.raises(TimeoutError):
            await waits(0.03, 0.2)
        task = asyncio.create_task(waits(0.04))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_a_shorter_wait_after_a_longer_one_has_its_own_bound() -> None:
    async def run() -> None:
        async with Patience() as patience:
            patience.allow(60)
            patience.rest()
            patience.allow(0.02)
            await asyncio.sleep(5)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(run(), 2))
