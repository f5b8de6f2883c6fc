"""Handing decisions to the log, whose own thread builds and writes the records; what fails there is said here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from policyengine.kinds.made import Made
from policyengine.kinds.policy import Policy
from policyengine.log.record import Recorder
from policyengine.log.settings import open_sink
from policyengine.log.sinks.own import OneByOne, RecordSink
from policyengine.log.sinks.sink import Sink
from policyengine.log.writer import Log, LogError
from policyengine.runtime.stated import has, stated_as


class DecisionLog(Protocol):
    """Takes decisions: `policyengine.log.writer.Log`, or anything else with this method."""

    def decided(self, made: Made, *, recorder: Recorder | None = None, **about: Any) -> None:
        """Take one decision; `recorder` makes its record of it, with the fields in `about`."""
        ...


AnyLog: TypeAlias = DecisionLog | Sink | RecordSink | str | Path
"""A log, a sink, or the path of a file that gets the records (SQLite by its suffix, JSONL otherwise)."""


class ListSink:
    """Keeps decisions in memory, for tests and for reading them in the same process."""

    def __init__(self) -> None:
        self._decided: list[tuple[Recorder, Made, Mapping[str, Any]]] = []
        self._records: list[Mapping[str, Any]] = []

    def decided(self, made: Made, *, recorder: Recorder | None = None, **about: Any) -> None:
        """Keep one decision."""
        assert recorder is not None
        self._decided.append((recorder, made, about))

    @property
    def records(self) -> list[Mapping[str, Any]]:
        """The records so far, built when they are read."""
        for recorder, made, about in self._decided[len(self._records) :]:
            self._records.append(recorder.record(made, **about))
        return self._records


class Journal:
    """Hands the decisions of one session to its log, and tells once when records are lost and once when they are not.

    Where the Logging policy says to stop, `write`, `check` and `settle` raise `LogError`.
    """

    def __init__(
        self,
        log: DecisionLog | None,
        *,
        on_down: Callable[[str], None] = lambda error: None,
        on_up: Callable[[], None] = lambda: None,
    ) -> None:
        self._log = log
        self._watched = log if isinstance(log, Log) else None
        self._on_down, self._on_up = on_down, on_up
        self._down = False
        self._lost = self._watched.dropped if self._watched is not None else 0

    def write(self, recorder: Recorder, made: Made, *, time_ms: int, about: Mapping[str, Any]) -> None:
        """Hand over one decision. Its input must not be changed afterwards."""
        if self._log is None:
            return
        try:
            self._log.decided(made, recorder=recorder, time_ms=time_ms, **about)
        except LogError:
            raise
        except Exception as error:
            self._failed(type(error).__name__)
            return
        if self._watched is None:
            self._works()

    def check(self) -> None:
        """Say what was lost since the last look."""
        log = self._watched
        if log is None:
            return
        log.check()
        if log.dropped > self._lost:
            self._lost = log.dropped
            self._failed(log.failure or "write")

    async def settle(self, wait_ms: int) -> None:
        """Wait until what was handed over is written, but no longer than `wait_ms`, and say what was lost."""
        log = self._watched
        if log is None:
            return
        lost, written = self._lost, await _written(log, wait_ms)
        self.check()
        if written and self._lost == lost:
            self._works()

    def _failed(self, error: str) -> None:
        if not self._down:
            self._down = True
            self._on_down(error)

    def _works(self) -> None:
        if self._down:
            self._down = False
            self._on_up()


def as_log(log: AnyLog | None, recorder: Recorder, policy: Policy) -> tuple[DecisionLog | None, Log | None]:
    """A log to hand decisions to, and the one that was made for that: whoever asked has to close it.

    Raises `InputError` for what is no log, and for a file that cannot be written.
    """
    if log is None:
        return None, None
    sink: Sink
    if isinstance(log, str | Path):
        sink = open_sink(log, policy)
    elif has("decided")(log):
        return cast(DecisionLog, log), None
    elif has("write_many")(log):
        sink = cast(Sink, log)
    else:
        stated_as(log, "log", "a Log, a sink with `write(record)`, or the path of a file", has("write"))
        sink = OneByOne(cast(RecordSink, log))
    made = Log(recorder, [sink], policy)
    return made, made


async def _written(log: Log, wait_ms: int) -> bool:
    """Wait for the writing thread without holding the event loop. False where time ran out."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    log.when_written(lambda: loop.call_soon_threadsafe(done.set))
    with suppress(TimeoutError):
        async with asyncio.timeout(wait_ms / 1000):
            await done.wait()
    return done.is_set()
