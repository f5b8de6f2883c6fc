"""Writing decision records. A log that fails is said once and never stops a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from policyengine.kinds.loop import Made
from policyengine.log.record import Recorder


class Sink(Protocol):
    """Takes records: a sink of `policyengine.log`, or anything else with this method."""

    def write(self, record: Mapping[str, Any]) -> None:
        """Take one record."""
        ...


class ListSink:
    """Keeps records in memory, for tests and for reading them in the same process."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []

    def write(self, record: Mapping[str, Any]) -> None:
        """Keep one record."""
        self.records.append(record)


class Journal:
    """Writes the decisions of one session. `lost` counts the records that could not be written."""

    def __init__(
        self,
        sink: Sink | None,
        *,
        on_down: Callable[[str], None] = lambda error: None,
        on_up: Callable[[], None] = lambda: None,
    ) -> None:
        self._sink = sink
        self._on_down, self._on_up = on_down, on_up
        self._down = False
        self.lost = 0

    def write(self, recorder: Recorder, made: Made, *, time_ms: int, about: Mapping[str, Any]) -> None:
        """Write one decision. Never raises."""
        if self._sink is None:
            return
        try:
            self._sink.write(recorder.record(made, time_ms=time_ms, **about))
        except Exception as error:
            self.lost += 1
            if not self._down:
                self._down = True
                self._on_down(type(error).__name__)
            return
        if self._down:
            self._down = False
            self._on_up()
