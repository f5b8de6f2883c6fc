"""Where a log file ends, so that a new process can go on writing to it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

_PIECE = 1 << 16
_LONGEST_LINE = 64 << 20
"""Bytes that the last line of a log may have; a longer one is no record."""
_START = b'{"schema":"policyengine.record/'


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


def is_log(fd: int, size: int) -> bool:
    """Whether a file may be gone on with as a log: it is empty, or its last line is a record, or the beginning of one
    that was cut off. A text, a session or any other file is none, however many records stand before its end."""
    tail, at = b"", size
    while at > 0 and len(tail) < _LONGEST_LINE:
        piece = min(_PIECE, at)
        at -= piece
        tail = os.pread(fd, piece, at) + tail
        # What a disk leaves of a write that it lost is zeros.
        line = tail.rstrip(b"\0\r\n\t ")
        if b"\n" in line or at == 0:
            return _begins_record(line.rpartition(b"\n")[2])
    return size == 0


def _begins_record(line: bytes) -> bool:
    if not line or _record(line) is not None:
        return True
    try:
        json.loads(line)
    except ValueError:
        start = line.lstrip(b"\0")[: len(_START)]
        return _START.startswith(start)
    return False


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("seq"), int) else None
