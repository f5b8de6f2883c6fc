"""JSONL: one record a line, in files that are set aside when they are large or old."""

from __future__ import annotations

import glob
import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from policyengine.log.chain import Chain, body
from policyengine.log.sinks.resume import is_log, last_record
from policyengine.log.sinks.sink import Item, SinkError, as_input_error
from policyengine.source.errors import InputError

Fsync = Literal["never", "batch", "close"]


class JsonlSink:
    """Appends records to a file.

    Every batch is one write to the system, so what `write_many` returned from survives the death of the process. A
    batch that fits only in part (disk full) is cut back to whole lines. A line that an earlier process left torn is
    ended and stays, for `policyengine log check` to report; the chain goes on from the last whole record.

    `rotate_bytes` and `rotate_seconds` set the file aside as NAME.000001.jsonl, NAME.000002.jsonl, ... Raises
    `InputError` where the file cannot be opened, is no log, or another process writes to it.
    """

    kind = "jsonl"

    def __init__(
        self, path: str | Path, *, rotate_bytes: int | None = None, rotate_seconds: int | None = None,
        fsync: Fsync = "close",
    ) -> None:  # fmt: skip
        self._path = Path(path)
        self._rotate_bytes, self._rotate_seconds, self._fsync = rotate_bytes, rotate_seconds, fsync
        self.chain = Chain()
        self._torn = False
        try:
            self._fd = self._open()
        except OSError as error:
            raise as_input_error(SinkError.of(str(self._path), error)) from None

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record. Raises `InputError`."""
        try:
            self.write_many([Item(record, body(record))])
        except SinkError as error:
            raise as_input_error(error) from None

    def write_many(self, items: Sequence[Item]) -> None:
        """Append records; one write to the system for all that go into the same file."""
        start = 0
        while start < len(items):
            try:
                self._rotate_if_due(len(items[start].body))
                start += self._append(items[start:])
            except OSError as error:
                raise SinkError.of(str(self._path), error, start) from None
            except SinkError as error:
                error.written += start
                raise

    def lost(self, count: int) -> None:
        """So many records were lost before the next one."""
        self.chain.dropped += count

    def close(self) -> None:
        """Close the file; `fsync` other than `never` puts it on the disk first."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        try:
            if self._fsync != "never" and self._regular:
                os.fsync(fd)
        except OSError as error:
            raise as_input_error(SinkError.of(str(self._path), error)) from None
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> int:
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            about = os.fstat(fd)
            self._regular = stat.S_ISREG(about.st_mode)
            self._size = 0
            if self._regular:
                _lock(fd, self._path)
                self._size = about.st_size
                if not is_log(fd, about.st_size):
                    raise InputError(
                        f"{self._path}: this file is no decision log (its last line is no record), and nothing was "
                        f"written to it; give the log another file"
                    )
                self._written_at = about.st_mtime if about.st_size else time.time()
                last = last_record(fd, about.st_size)
                self._torn = last.torn
                self._resume(last.record or self._last_aside())
            self.chain.fresh = True
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _resume(self, record: Mapping[str, Any] | None) -> None:
        if record is not None:
            self.chain.seq = record.get("seq") or 0
            self.chain.value = record.get("chain") or self.chain.value

    def _last_aside(self) -> Mapping[str, Any] | None:
        """The last record of the file set aside last: the process may have ended just after setting it aside."""
        aside = rotated(self._path)
        if not aside:
            return None
        with aside[-1].open("rb") as file:
            return last_record(file.fileno(), os.fstat(file.fileno()).st_size).record

    def _append(self, items: Sequence[Item]) -> int:
        """Write as many of the items as this file takes; how many that was. At least one."""
        before = self.chain.copy()
        lines: list[bytes] = []
        size = self._size
        for item in items:
            if lines and self._rotate_bytes is not None and size + len(item.body) > self._rotate_bytes:
                break
            line = self.chain.line(item.body) + b"\n"
            lines.append(line)
            size += len(line)
        data = (b"\n" if self._torn else b"") + b"".join(lines)
        written = 0
        view = memoryview(data)
        try:
            while written < len(data):
                written += os.write(self._fd, view[written:])
            if self._fsync == "batch" and self._regular:
                os.fsync(self._fd)
        except OSError as error:
            raise SinkError.of(str(self._path), error, self._cut_back(before, items, lines, written)) from None
        self._torn = False
        self._size += len(data)
        self._written_at = time.time()
        return len(lines)

    def _cut_back(self, before: Chain, items: Sequence[Item], lines: Sequence[bytes], written: int) -> int:
        """After a write that failed midway: keep whole lines, take the rest off; how many lines were kept."""
        ended = 1 if self._torn and written else 0
        whole, kept = ended, 0
        for line in lines:
            if whole + len(line) > written:
                break
            whole += len(line)
            kept += 1
        self.chain = before
        for item in items[:kept]:
            self.chain.line(item.body)
        try:
            os.ftruncate(self._fd, self._size + whole)
            self._torn = self._torn and not ended
        except OSError:
            self._torn = written > whole
            self.chain.fresh = True
            whole = written
        self._size += whole
        return kept

    def _rotate_if_due(self, coming: int) -> None:
        if not self._regular or not self._size:
            return
        large = self._rotate_bytes is not None and self._size + coming > self._rotate_bytes
        period = self._rotate_seconds
        old = period is not None and int(time.time() // period) != int(self._written_at // period)
        if not (large or old):
            return
        if self._fsync != "never":
            os.fsync(self._fd)
        self._path.rename(_aside(self._path))
        before = self.chain
        fd = self._fd
        self.chain = Chain(before.seq, before.value, before.dropped)
        self._torn = False
        self._fd = self._reopen()
        os.close(fd)

    def _reopen(self) -> int:
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        _lock(fd, self._path)
        self._size = 0
        self._written_at = time.time()
        return fd


def _aside(path: Path) -> Path:
    """The name under which a full file is set aside: numbers rise, so that names sort in order of time."""
    taken = [_number(other, path) for other in rotated(path)]
    return path.with_name(f"{path.stem}.{max(taken, default=0) + 1:06d}{path.suffix}")


def rotated(path: Path) -> list[Path]:
    """The files that were set aside for `path`, oldest first."""
    near = path.parent.glob(f"{glob.escape(path.stem)}.*{glob.escape(path.suffix)}")
    return sorted((other for other in near if _number(other, path)), key=lambda other: _number(other, path))


def _number(other: Path, path: Path) -> int:
    """Which file in order this is of those set aside for `path`; 0 for none of them."""
    middle = other.name[len(path.stem) + 1 : len(other.name) - len(path.suffix)]
    return int(middle) if middle.isdecimal() else 0


def _lock(fd: int, path: Path) -> None:
    """One writer a file: two would break each other's chain."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{path}: another process writes to this log; give each process a file of its own") from None
