"""Where a log file ends, so that a new process can go on writing to it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Last:
    """The last whole record of a file, and whether a torn line follows it."""

    record: dict[str, Any] | None
    torn: bool


def last_record(fd: int, size: int) -> Last:
    """Read a file backwards to its last whole record. `torn`: the file does not end with a newline."""
    tail = b""
    at = size
    torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
    while at > 0:
        piece = min(_PIECE, at)
        at -= piece
        tail = os.pread(fd, piece, at) + tail
        lines = tail.split(b"\n")
        # The first piece may have begun in mid-line; the last one is empty, or has no newline (and may be whole).
        for line in reversed(lines[0 if at == 0 else 1 :]):
            record = _record(line)
            if record is not None:
                return Last(record, torn)
    return Last(None, torn)


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("seq"), int) else None
