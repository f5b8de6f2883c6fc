"""Checking a log: is every record there, in order, as it was written?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from policyengine.log.chain import START, link, split
from policyengine.log.lines import parse
from policyengine.log.read import lines_of

_HEAD = re.compile(rb'\{"schema":"[^"]*","seq":(\d+),(?:"dropped":(\d+),)?(?:"chain_from":"([0-9a-f]{64})",)?')


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and on which line (1-based) of which file. `kind` is gap, edited, torn, or unchained.

    `line` is None for the log as a whole.
    """

    file: str
    line: int | None
    kind: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.kind}: {self.message}"


@dataclass(slots=True)
class Checked:
    """What a check found."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    records: int = 0
    dropped: int = 0
    """Records that the log itself says were lost."""
    last_seq: int | None = None
    last_chain: str | None = None


def check(files: Sequence[Path]) -> Checked:
    """Check log files that follow each other. Raises `InputError` where one cannot be read."""
    found = Checked()
    walk = _Walk(found)
    for path in files:
        walk.file(path)
    found.last_seq = walk.seq
    found.last_chain = walk.chain
    return found


class _Walk:
    def __init__(self, found: Checked) -> None:
        self.found = found
        self.chain: str | None = None
        self.seq: int | None = None

    def file(self, path: Path) -> None:
        first = True
        for number, raw in self._lines(path):
            line = raw.removesuffix(b"\n")
            if not line:
                continue
            at = (str(path), number)
            parts, head = split(line), _HEAD.match(line)
            if parts is None or head is None:
                self._unchained(at, line, ended=raw.endswith(b"\n"))
                continue
            self._record(at, parts, head, first)
            first = False
            if not raw.endswith(b"\n"):
                self._problem(at, "torn", "the last line has no end; a write was cut off after the record")

    def _lines(self, path: Path) -> Iterator[tuple[int, bytes]]:
        return enumerate(lines_of(path), 1)

    def _record(self, at: tuple[str, int], parts: tuple[bytes, str], head: re.Match[bytes], first: bool) -> None:
        content, chain = parts
        seq, dropped = int(head[1]), int(head[2] or 0)
        came_from = head[3].decode() if head[3] else None
        self.found.records += 1
        self.found.dropped += dropped
        before = self.chain
        if came_from is not None and (before is None or came_from != before):
            if before is not None or not first:
                self._gap(at, seq, dropped)
            elif came_from != START:
                self.found.notes.append(f"{at[0]}: begins with record {seq}; what came before is in another file")
            self.seq = seq - 1 - dropped
            before = came_from
        if before is None:
            self._problem(at, "gap", f"the log begins with record {seq}, which is not the first of a file")
            self.seq, self.chain = seq, chain
            return
        if link(before, content) != chain:
            if seq != self._expected(dropped):
                self._gap(at, seq, dropped)
            else:
                self._problem(at, "edited", f"record {seq} is not as it was written")
        elif seq != self._expected(dropped):
            self._gap(at, seq, dropped)
        self.seq, self.chain = seq, chain

    def _expected(self, dropped: int) -> int:
        return (self.seq or 0) + 1 + dropped

    def _gap(self, at: tuple[str, int], seq: int, dropped: int) -> None:
        last = self.seq or 0
        missing = seq - dropped - last - 1
        if missing > 0:
            which = f"record {last + 1} is" if missing == 1 else f"records {last + 1} to {last + missing} are"
            self._problem(at, "gap", f"{which} missing before record {seq}")
        else:
            self._problem(at, "gap", f"record {seq} does not follow record {last}: lines were moved, added or removed")

    def _unchained(self, at: tuple[str, int], line: bytes, *, ended: bool) -> None:
        if parse(line) is not None:
            self._problem(at, "unchained", "the record carries no chain; another tool wrote or changed it")
        elif ended:
            self._problem(at, "torn", "the line is no record: a write was cut off here, or it was edited")
        else:
            self._problem(at, "torn", "the last line is cut off; the records before it are whole")

    def _problem(self, at: tuple[str, int], kind: str, message: str) -> None:
        self.found.problems.append(Problem(*at, kind, message))
