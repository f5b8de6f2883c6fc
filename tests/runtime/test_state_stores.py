"""State stores: atomic, durable, shared; and a loop that goes on without them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis_server import redis_server
from runtime_kit import Script, adapter, events, fault, of, quick, says

from policyengine.kinds.before_send import LoopState
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.runtime.advisor import Advisor
from policyengine.runtime.clock import Clock
from policyengine.runtime.events import CompactionEnded, Degraded, Restored, TurnEnded
from policyengine.runtime.history import History
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.state.resilient import ResilientStore
from policyengine.runtime.state.sqlite import SqliteStore
from policyengine.runtime.state.store import MemoryStore

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["memory", "sqlite", "redis"])
def store_of(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Opens the store; each call another client of the same state (memory: the same object)."""
    if request.param == "memory":
        memory = MemoryStore()
        return lambda: memory
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "state.db")
    from policyengine.runtime.state.redis import RedisStore

    url = request.getfixturevalue("redis")
    return lambda: RedisStore(url, prefix=f"{tmp_path}:", timeout_s=5)


@asynccontextmanager
async def _open(store: Any) -> AsyncIterator[Any]:
    try:
        yield store
    finally:
        await store.close()


def _one_more(before: Any) -> tuple[dict[str, int], int]:
    number = (before or {}).get("n", 0) + 1
    return {"n": number}, number


def test_updates_from_many_tasks_and_clients_are_atomic(store_of: Any) -> None:
    async def run() -> None:
        async with _open(store_of()) as one, _open(store_of()) as other:
            answers = await asyncio.gather(*((one, other)[i % 2].update("k", _one_more) for i in range(40)))
            assert sorted(answers) == list(range(1, 41))
            assert await one.get("k") == {"n": 40}
            assert await other.get("nothing") is None

    asyncio.run(run())


def test_several_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    for number in range(100):
        together = threading.Barrier(6)

        def step(path: Path = tmp_path / f"{number}.sqlite", together: threading.Barrier = together) -> int:
            store = SqliteStore(path)
            together.wait()
            answer = asyncio.run(store.update("k", _one_more))
            asyncio.run(store.close())
            return answer

        with ThreadPoolExecutor(6) as pool:
            assert sorted(pool.map(lambda _, step=step: step(), range(6))) == [1, 2, 3, 4, 5, 6]


def test_a_new_client_finds_what_is_there_and_resets_nothing(store_of: Any) -> None:
    """R32."""

    async def run() -> None:
        first, second = store_of(), store_of()
        await first.update("k", _one_more)
        assert await second.get("k") == {"n": 1}
        assert await second.update("k", lambda before: (None, before)) == {"n": 1}
        await first.close()
        await second.close()

    asyncio.run(run())


def test_a_step_that_raises_changes_nothing(store_of: Any) -> None:
    async def run() -> None:
        async with _open(store_of()) as store:
            await store.update("k", _one_more)
            with pytest.raises(ZeroDivisionError):
                await store.update("k", lambda before: ({"n": 1 // 0}, None))
            assert await store.get("k") == {"n": 1}
            assert await store.update("k", _one_more) == 2

    asyncio.run(run())


def _failing(store: Any, prefix: str = "") -> tuple[Any, Script]:
    def stream(request: Any) -> Any:
        last = request.messages[-1].blocks[-1]
        summary = isinstance(last, Text) and last.text.startswith("Summarise the conversation")
        return [fault("auth", 401)] if summary else says("ok", 170_000, 1)

    script = Script([stream])
    made, _ = adapter(script, bundle=quick(), store=store, scope=f"team{prefix}", shared_breaker=True)
    one = made.session("big", window=200_000)
    core = one._core
    texts = (Message("user", (Text("x" * 400_000),), "a"), Message("assistant", (Text("x" * 280_000),), "a"))
    core.history, core.last_prompt_tokens, core.counted = History(texts), 170_000, 2
    return one, script


def test_an_open_breaker_survives_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        one, _ = _failing(SqliteStore(tmp_path / "state.db"))
        for turn in range(3):
            await events(one.send(f"go on {turn}"))
        again, script = _failing(SqliteStore(tmp_path / "state.db"))
        found = await events(again.send("go on"))
        assert not of(found, CompactionEnded)
        assert len(script.requests) == 1

    asyncio.run(run())


def test_two_processes_on_one_redis_breaker(redis: str) -> None:
    """Three failures in total, in whichever process, open it in both."""

    def process(turns: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(HERE / "redis_process.py"), redis, str(turns)]
        return subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True)

    def answer(one: subprocess.Popen[str]) -> dict[str, Any]:
        out, _ = one.communicate(timeout=120)
        assert one.returncode == 0
        found: dict[str, Any] = json.loads(out)
        return found

    first = answer(process(2))
    assert (first["summaries"], first["failures"]) == (2, 2)
    second = answer(process(3))
    assert (second["summaries"], second["failures"]) == (1, 3)
    assert second["gates"] == ["auto_reached", "breaker_open", "breaker_open"]
    # A process that joins now resets nothing.
    both = [process(2), process(2)]
    assert [answer(one)["summaries"] for one in both] == [0, 0]


class Breaking:
    """A store that can be switched off, or made to hang."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.down = self.hangs = False

    async def get(self, key: str) -> Any:
        return await self.update(key, lambda before: (None, before))

    async def update(self, key: str, change: Any) -> Any:
        if self.hangs:
            await asyncio.sleep(60)
        if self.down:
            raise ConnectionError("redis://user:SECRET@host")
        return await self.inner.update(key, change)

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("how", ["down", "hangs"])
def test_a_store_that_is_killed_in_mid_run_is_said_once_and_the_loop_goes_on(how: str) -> None:
    async def run() -> None:
        store = Breaking()
        made, _ = adapter(Script([says("ok")]), store=store)
        one = made.session("big")
        await events(one.send("first one"))
        setattr(store, how, True)
        begun = time.monotonic()
        found = [*await events(one.send("second one")), *await events(one.send("third one"))]
        assert time.monotonic() - begun < 5
        assert [event.what for event in of(found, Degraded)] == ["store"]
        assert [event.status for event in of(found, TurnEnded)] == ["completed", "completed"]
        assert "SECRET" not in repr(found)

    asyncio.run(run())


def test_while_the_store_is_down_local_state_goes_on_from_what_was_seen() -> None:
    async def run() -> None:
        now = [0.0]
        told: list[str] = []
        store = Breaking()
        resilient = ResilientStore(
            store, timeout_s=1, retry_s=5, on_down=told.append, on_up=lambda: told.append("up"), clock=lambda: now[0]
        )
        assert await resilient.update("k", _one_more) == 1
        store.down = True
        assert await resilient.update("k", _one_more) == 2
        assert resilient.down
        store.down = False
        # It is left alone for a while, then it counts again as the others know it.
        assert await resilient.update("k", _one_more) == 3
        now[0] = 6
        assert await resilient.update("k", _one_more) == 2
        assert told == ["ConnectionError", "up"]

    asyncio.run(run())


def test_a_store_that_comes_back_is_said() -> None:
    async def run() -> None:
        store = Breaking()
        store.down = True
        made, _ = adapter(Script([says("ok")]), store=store, bundle=quick())
        one = made.session("big")
        one._core.store._retry_s = 0.0  # type: ignore[attr-defined]
        found = await events(one.send("first one"))
        assert of(found, Degraded)
        store.down = False
        assert of(await events(one.send("second one")), Restored)

    asyncio.run(run())


def test_a_damaged_row_is_no_state(tmp_path: Path) -> None:
    import sqlite3

    async def run() -> None:
        store = SqliteStore(tmp_path / "state.db")
        await store.update("k", _one_more)
        connection = sqlite3.connect(tmp_path / "state.db")
        connection.execute("UPDATE state SET value = '{broken'")
        connection.commit()
        connection.close()
        assert await store.get("k") is None
        await store.close()

    asyncio.run(run())


def test_a_clock_that_jumps_does_not_hold_a_breaker_open_or_a_permit_for_ever() -> None:
    wall, mono = [1_000_000.0], [0.0]
    clock = Clock(lambda: wall[0], lambda: mono[0])
    assert clock.now_ms() == 1_000_000_000
    wall[0] -= 86_400
    mono[0] += 1
    assert clock.now_ms() == 1_000_001_000
    wall[0] += 2 * 86_400
    assert clock.now_ms() == 1_000_000_000 + 86_400_000

    async def run() -> None:
        # Another machine, whose clock was a day ahead, opened the breaker and took the half-open permit.
        now = 1_000_000_000
        ahead = {
            "consecutive_failures": 3,
            "rescues": 0,
            "opened_at_ms": now + 86_400_000,
            "probe_at_ms": now + 86_400_000,
        }
        store = MemoryStore()
        await store.update("breaker:x", lambda before: ({**ahead, "generation": 4}, None))
        times = [now]
        bundle = quick(breaker={"cooldown_ms": 1000, "probe_lease_ms": 500})
        advisor = Advisor(bundle, store, scope="x", clock=lambda: times[0])

        async def ask() -> str:
            count = Count(Sizes(), Sizes(), last_prompt_tokens=170_000)
            return (await advisor.before_send(LoopState(), count, window=200_000, prompts=1)).breaker

        assert await ask() == "open"
        times[0] += 2000
        assert await ask() == "half_open"
        # One permit: a second asker waits for its verdict, or for its lease to end.
        assert await ask() == "open"
        times[0] += 600
        assert await ask() == "half_open"

    asyncio.run(run())


def test_an_agent_with_its_own_loop_can_ask_the_advisor_alone() -> None:
    async def run() -> None:
        advisor = Advisor(quick(), MemoryStore(), scope="mine")
        state = LoopState()
        count = Count(Sizes(text_bytes=400), Sizes(), last_prompt_tokens=170_000)
        before = await advisor.before_send(state, count, window=200_000, prompts=1)
        assert (before.tier, before.compact) == ("auto", True)
        facts = {
            "stop_reason": "length", "summary_bytes": 10, "output_tokens": 20_000, "reasoning_tokens": None,
            "max_output_tokens": 20_000, "tokens_before": 170_100, "tokens_after": 9000, "auto": before.ladder["auto"],
            "compactions_in_a_row": 1,
        }  # fmt: skip
        result, after = await advisor.compacted(before.state, facts=facts)
        assert (result, after.consecutive_failures) == ("truncated", 1)

    asyncio.run(run())
