"""The hash chain over a log: each line carries the SHA-256 of the line before it and of itself.

A line is `{"schema":...,"seq":N,` the record `,"chain":"HEX"}`, where HEX is the SHA-256 of the chain value before
and of the bytes of this line up to (not with) `,"chain":`. Changing, removing or adding a line breaks the chain there.
The chain has no key: who can rewrite the whole file can make a new chain. Keep the last value elsewhere to notice
that (`policyengine log check FILE --ends-with HEX`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.log.fields import SCHEMA, in_order, plain

START = "0" * 64
"""The chain value before the first record of a log."""

_MARK = b',"chain":"'
_TAIL = len(_MARK) + 64 + 2

_SINKS_OWN = frozenset({"schema", "seq", "dropped", "chain_from", "chain"})
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=plain, check_circular=False).encode


def body(record: Mapping[str, Any]) -> bytes:
    """A record as JSON in UTF-8, without its braces and without the fields that a sink adds.

    The fields come in the schema's order, in which counting is quickest.

    Half a surrogate pair, which UTF-8 cannot hold, becomes `?`.
    """
    text = _encode({name: record[name] for name in in_order(record) if name not in _SINKS_OWN})
    return text[1:-1].encode("utf-8", "replace")


@dataclass(slots=True)
class Chain:
    """Where a log stands: the number and chain value of its last record, and what was lost since."""

    seq: int = 0
    value: str = START
    dropped: int = 0
    fresh: bool = True
    """The next record says what it chains to: the file was just opened or rotated."""

    def line(self, content: bytes) -> bytes:
        """The next line, without its newline; the chain moves on."""
        self.seq += 1 + self.dropped
        lost = f'"dropped":{self.dropped},' if self.dropped else ""
        start = f'"chain_from":"{self.value}",' if self.fresh else ""
        head = f'{{"schema":"{SCHEMA}","seq":{self.seq},{lost}{start}'.encode()
        self.value = link(self.value, head + content)
        self.dropped = 0
        self.fresh = False
        return b"".join((head, content, _MARK, self.value.encode(), b'"}'))

    def copy(self) -> Chain:
        """Where it stands now."""
        return Chain(self.seq, self.value, self.dropped, self.fresh)


def link(before: str, content: bytes) -> str:
    """The chain value of a line: `content` is the line up to its own chain value."""
    return hashlib.sha256(before.encode() + content).hexdigest()


def split(line: bytes) -> tuple[bytes, str] | None:
    """What a line's chain value covers, and that value; None for a line that carries none at its end."""
    at = len(line) - _TAIL
    if at <= 0 or line[at : at + len(_MARK)] != _MARK or line[-2:] != b'"}':
        return None
    return line[:at], line[-66:-2].decode("ascii", "replace")


def is_value(text: str) -> bool:
    """Whether a text has the form of a chain value."""
    return len(text) == len(START) and set(text) <= set("0123456789abcdef")
