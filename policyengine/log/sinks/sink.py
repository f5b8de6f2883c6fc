"""What a sink is, and how it fails."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from policyengine.source.errors import InputError


@dataclass(frozen=True, slots=True)
class Item:
    """A record on its way to the sinks: as data, and as JSON without braces."""

    record: Mapping[str, Any]
    body: bytes


class SinkError(Exception):
    """A sink could not write. `written` records of the batch are safe; `code` is the system's name of the error."""

    def __init__(self, message: str, *, written: int = 0, code: str | None = None) -> None:
        self.written = written
        self.code = code
        super().__init__(message)

    @classmethod
    def of(cls, name: str, error: OSError, written: int = 0) -> SinkError:
        """From an error of the system."""
        return cls(
            f"{name}: the log cannot be written: {error.strerror or error}",
            written=written,
            code=errno.errorcode.get(error.errno or 0),
        )


class Sink(Protocol):
    """Where records go. Every call comes from one thread."""

    kind: str
    """`jsonl`, `sqlite` or `otel`."""

    def write_many(self, items: Sequence[Item]) -> None:
        """Write a batch. What it returns from is safe against the end of the process. Raises `SinkError`."""

    def lost(self, count: int) -> None:
        """So many records were lost before the next one; the next one says so."""

    def close(self) -> None:
        """Write what is left and let go. Raises `SinkError`."""


def as_input_error(error: SinkError) -> InputError:
    """The same for a person at the command line."""
    return InputError(str(error))
