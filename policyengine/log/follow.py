"""Following a log as it grows, also when its file is set aside and a new one begun."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from policyengine.log.sinks.jsonl import rotated
from policyengine.source.errors import InputError

_PAUSE_S = 0.2


def follow(
    path: Path, last: int = 10, *, forever: bool = True, stop: Callable[[], bool] = lambda: False
) -> Iterator[bytes]:
    """The last lines of a log, and with `forever` each line that is added until `stop`. Raises `InputError`."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        lines = _last(file, last)
        yield from lines
        rest = b""
        while forever and not stop():
            piece = file.readline()
            if piece:
                rest += piece
                if rest.endswith(b"\n"):
                    yield rest
                    rest = b""
                continue
            if _replaced(path, file):
                # What was written between the last look and the renaming, then the files set aside since, whole.
                for line in (*file, *_since(path, file)):
                    rest += line
                    if rest.endswith(b"\n"):
                        yield rest
                        rest = b""
                file.close()
                file = path.open("rb")
                rest = b""
                continue
            time.sleep(_PAUSE_S)


def _last(file: BinaryIO, count: int) -> list[bytes]:
    """The last whole lines; the file then stands after them."""
    end = file.seek(0, os.SEEK_END)
    at, tail = end, b""
    while at > 0 and tail.count(b"\n") <= count:
        step = min(1 << 16, at)
        at -= step
        file.seek(at)
        tail = file.read(step) + tail
    lines = tail.splitlines(keepends=True)
    whole = [line for line in lines if line.endswith(b"\n")]
    file.seek(end - (len(lines[-1]) if lines and not lines[-1].endswith(b"\n") else 0))
    return whole[-count:] if count else []


def _since(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The lines of the files that were set aside after this one."""
    aside = rotated(path)
    mine = os.fstat(file.fileno()).st_ino
    at = next((place for place, one in enumerate(aside) if one.stat().st_ino == mine), len(aside))
    for one in aside[at + 1 :]:
        with one.open("rb") as later:
            yield from later


def _replaced(path: Path, file: BinaryIO) -> bool:
    """Whether the file of this name is another one now."""
    try:
        now = path.stat()
    except OSError:
        return False
    mine = os.fstat(file.fileno())
    return (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino)
