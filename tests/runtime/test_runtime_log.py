"""Decisions on their way to the log: built in its thread; a log that fails does what its policy says."""

from __future__ import annotations

import asyncio
import errno
import os
import statistics
import threading
import time
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import LOOK, Script, adapter, builtin, calls, events, fault, of, quick, says, tool, turn_of, valid

from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.made import Made
from policyengine.log.check import check
from policyengine.log.read import records
from policyengine.log.record import Recorder
from policyengine.log.settings import logging_policy, open_sink
from policyengine.log.sinks.sink import Item, SinkError
from policyengine.log.writer import Log, LogError
from policyengine.runtime.events import Degraded, Restored, TurnEnded, TurnFailed

STOP = """\
apiVersion: policyengine/v1
kind: Logging
metadata: {name: logging, version: 1.0.0, owner: team}
spec:
  queue_records: 10000
  batch_records: 256
  rotate_bytes: 268435456
  rotate_seconds: 86400
  fsync: close
  close_seconds: 5
  rules: []
  default: {id: stop, outcome: {action: stop}}
  on_error: {action: stop}
"""


class Disk:
    """A sink on a disk that has room for so many records, or for any number."""

    kind = "jsonl"

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.taken: list[Item] = []
        self.dropped = 0

    def write_many(self, items: Any) -> None:
        fits = len(items) if self.room is None else min(self.room, len(items))
        self.taken += items[:fits]
        if self.room is not None:
            self.room -= fits
        if fits < len(items):
            raise SinkError("log.jsonl: the log cannot be written: No space left", written=fits, code="ENOSPC")

    def lost(self, count: int) -> None:
        self.dropped += count

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def stopping(tmp_path_factory: Any) -> Bundle:
    path = tmp_path_factory.mktemp("logging") / "logging.yaml"
    path.write_text(STOP, encoding="utf-8")
    policy = load(path).serving("Logging")
    return replace(quick(), policies={**quick().policies, policy.name: policy})


def _log(bundle: Bundle, *sinks: Any) -> Log:
    return Log(Recorder(bundle, source="runtime"), sinks, logging_policy(bundle), at_exit=False)


def _session(bundle: Bundle, log: Any, *streams: Any, **more: Any) -> Any:
    made, _ = adapter(Script(streams), bundle=bundle, log=log)
    options = {"tools": [tool()], "fast": "small", "fast_routing": True, "window": 200_000, "fast_window": 200_000}
    return made.session("big", **{**options, **more})


def test_no_record_is_built_in_the_deciding_thread(monkeypatch: Any) -> None:
    built: list[str] = []
    whole = Recorder.record

    def record(self: Recorder, *args: Any, **more: Any) -> Any:
        built.append(threading.current_thread().name)
        return whole(self, *args, **more)

    monkeypatch.setattr(Recorder, "record", record)

    class Own:
        def __init__(self) -> None:
            self.records: list[Any] = []

        def write(self, record: Any) -> None:
            self.records.append(record)

    async def turn(log: Any) -> None:
        made, _ = adapter(Script([calls(LOOK), says("fine")]), bundle=quick(), log=log)
        await events(made.session("big", tools=[tool()]).send("show me the file"))
        await made.close()

    own, disk = Own(), Disk()
    for log in (own, disk, _log(quick(), Disk())):
        asyncio.run(turn(log))
    assert len(built) > 30
    assert set(built) == {"policyengine-log"}
    assert len(own.records) == len(disk.taken) > 10


def test_what_was_decided_on_is_not_changed_afterwards() -> None:
    class Watched:
        def __init__(self) -> None:
            self.seen: list[tuple[Made, Any, dict[str, Any], Any]] = []

        def decided(self, made: Made, *, recorder: Any = None, **about: Any) -> None:
            self.seen.append((made, deepcopy((made.input, made.decision.outcome)), about, deepcopy(about)))

    log = Watched()
    script = [calls(LOOK, prompt=100), [fault("overloaded", 503)], calls(("c2", "look", {})), says("a summary")]
    one = _session(quick(), log, *script, says("fine"), window=9_000)
    turn_of(one, "show me the file " * 900)
    asyncio.run(one.compact())
    turn_of(one, "and the other one")
    kinds = {made.policy.kind.name for made, *_ in log.seen}
    assert {"Ladder", "Routing", "Directives", "CompactionGate", "Retry", "SendLimits", "Presentation"} <= kinds
    for made, before, about, as_it_was in log.seen:
        assert (made.input, made.decision.outcome) == before, made.policy.name
        assert about == as_it_was


def test_a_record_costs_the_deciding_thread_less_than_20_us() -> None:
    disk = Disk()
    log = _log(quick(), disk)
    one = _session(quick(), log, says("fine"))
    core = one._core
    policy = builtin().serving("Routing")
    given = policy.input_schema["examples"][0]
    made = (Made(policy, given, policy.decide(given)),)
    about = {"session_id": "s", "turn_id": "s/1", "prompt_id": "p", "round": 1, "tier": "none"}
    spent = []
    for _ in range(20):
        for _ in range(200):
            core.advisor.take(core.live(), made)
        clock = time.thread_time()
        core.advisor.write(about, {"Routing": {"tier_actual": "fast", "total_rt_ms": 10}})
        spent.append((time.thread_time() - clock) / 200)
        log.flush()
    log.close()
    assert len(disk.taken) == 4000
    assert statistics.median(spent) < 20e-6


def test_a_log_that_fails_and_comes_back_is_said_once_each() -> None:
    disk = Disk(3)
    log = _log(quick(), disk)
    one = _session(quick(), log, calls(LOOK), says("fine"), says("fine"))
    first = turn_of(one)
    assert [(e.what, e.error) for e in of(first, Degraded)] == [("log", "ENOSPC")]
    assert of(first, TurnEnded)[0].status == "completed"
    assert not of(turn_of(one), Degraded)
    disk.room = None
    assert [e.what for e in of(turn_of(one) + turn_of(one), Restored)] == ["log"]
    assert log.dropped == disk.dropped > 5
    valid(one)


@pytest.mark.parametrize("room", [0, 3, 12])
def test_where_the_policy_says_stop_a_full_disk_ends_the_send_with_a_typed_error(stopping: Bundle, room: int) -> None:
    log = _log(stopping, Disk(room))
    script = Script([calls(LOOK), says("fine")])
    made, _ = adapter(script, bundle=stopping, log=log)
    one = made.session("big", tools=[tool()])

    async def run() -> list[Any]:
        found: list[Any] = []

        async def read() -> None:
            async for event in one.send("show me the file"):
                found.append(event)

        with pytest.raises(LogError, match="the log cannot be written: No space left"):
            await read()
        return found

    found = asyncio.run(run())
    assert [e.kind for e in of(found, TurnFailed)] == ["log"]
    assert [e.status for e in of(found, TurnEnded)] == ["failed"]
    assert found[-1] is of(found, TurnEnded)[0]
    assert one.state == "idle"
    valid(one)
    # The next one does not even ask a model.
    asked = len(script.requests)
    asyncio.run(run())
    assert len(script.requests) == asked


def test_a_compaction_on_demand_ends_with_the_error_too(stopping: Bundle) -> None:
    log = _log(stopping, Disk(0))
    made, _ = adapter(Script([says("fine")]), bundle=stopping, log=log)
    one = made.session("big")
    with pytest.raises(LogError):
        asyncio.run(one.compact())


def test_a_slow_log_holds_the_end_of_a_turn_no_longer_than_the_settings_say() -> None:
    class Slow(Disk):
        def write_many(self, items: Any) -> None:
            time.sleep(1)
            super().write_many(items)

    bundle = quick()
    live = _session(bundle, None, says("fine"))._core.live()
    limit = live.settings["log_wait_ms"] / 1000
    one = _session(bundle, _log(bundle, Slow()), says("fine"))
    begun = time.monotonic()
    assert of(turn_of(one), TurnEnded)[0].status == "completed"
    assert time.monotonic() - begun < limit + 0.4


def test_a_turn_over_a_log_file(tmp_path: Path, monkeypatch: Any) -> None:
    """On a disk that is full after some lines, the file holds whole records and counts what is missing."""
    path = tmp_path / "log.jsonl"
    log = _log(quick(), open_sink(path))
    write, left = os.write, [6000]

    def full(fd: int, data: Any) -> int:
        if threading.current_thread().name != "policyengine-log":
            return write(fd, data)
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(fd, bytes(data)[: left[0]])
        left[0] -= done
        return done

    one = _session(quick(), log, calls(LOOK), says("fine"))
    monkeypatch.setattr(os, "write", full)
    found = turn_of(one)
    monkeypatch.setattr(os, "write", write)
    assert [(e.what, e.error) for e in of(found, Degraded)] == [("log", "ENOSPC")]
    turn_of(one, "again")
    log.close()
    found = list(records(path))
    assert found
    assert sum(r.get("dropped") or 0 for r in found) == log.dropped > 0
    assert not check([path]).problems
