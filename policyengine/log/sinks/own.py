"""Sinks of somebody else's, which take one record at a time."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from policyengine.log.sinks.sink import Item, SinkError


class RecordSink(Protocol):
    """A sink of one's own: it takes finished records, one at a time, from the writing thread of a `Log`.

    What it raises is a lost record: counted, said once, and told in the next record that gets through.
    """

    def write(self, record: Mapping[str, Any]) -> None:
        """Take one record."""
        ...


class OneByOne:
    """A sink of somebody else's that takes one record at a time."""

    kind = "own"

    def __init__(self, sink: RecordSink) -> None:
        self._sink = sink
        self._dropped = 0

    def write_many(self, items: Sequence[Item]) -> None:
        """Hand the records over. Raises `SinkError`."""
        for done, item in enumerate(items):
            record = {**item.record, "dropped": self._dropped} if self._dropped else item.record
            try:
                self._sink.write(record)
            except Exception as error:
                number = error.errno if isinstance(error, OSError) else None
                code = errno.errorcode.get(number or 0, type(error).__name__)
                raise SinkError(f"the log cannot be written: {code}", written=done, code=code) from None
            self._dropped = 0

    def lost(self, count: int) -> None:
        """So many records were lost before the next one."""
        self._dropped += count

    def close(self) -> None:
        """It belongs to whoever made it."""
