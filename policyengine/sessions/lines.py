"""From bytes to JSON objects, line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from policyengine.sessions.content import Json

# Deeper nesting than any transcript has; beyond it Python's own limits come near.
_DEEPEST: Final = 200
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BOM: Final = b"\xef\xbb\xbf"
MAX_LINE_BYTES: Final = 64_000_000
"""Safety limit of a line, and of a document that is read whole. Lines with images have some megabytes."""


def read_lines(stream: BinaryIO) -> Iterator[tuple[Json | str, int]]:
    """Give each line as a JSON object, or the reason why it is none, and its length in bytes."""
    first = True
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        if len(raw) > MAX_LINE_BYTES:
            length = len(raw)
            while not raw.endswith(b"\n") and (raw := stream.readline(MAX_LINE_BYTES)):
                length += len(raw)
            yield "line too long", length
        else:
            yield parse_line(raw.removeprefix(_BOM) if first else raw, complete=raw.endswith(b"\n")), len(raw)
        first = False


def parse_line(raw: bytes, *, complete: bool = True) -> Json | str:
    """Read one line. A line without its end that cannot be read is taken for cut off, not for wrong."""
    if not raw.strip():
        return "blank line"
    try:
        value = parse_json(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        # A cut can go through the last character; bytes that are wrong before that are wrong.
        return "truncated last line" if not complete and error.end == len(raw) else "not UTF-8"
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "bad JSON" if complete else "truncated last line"
    return value if isinstance(value, dict) else "not an object"


def parse_json(text: str) -> object:
    """Read a JSON text. Raises ValueError where it is none, RecursionError where it is nested too deeply."""
    return safe(json.loads(text), text)


def safe(value: object, text: str) -> object:
    """Check the depth, and mend halves of surrogate pairs, which could not be written out again."""
    if text.count("{") + text.count("[") > _DEEPEST and _deep(value):
        raise RecursionError
    return _mend(value) if _SURROGATE.search(text) else value


def _deep(value: object) -> bool:
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def _mend(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mend(inner) for inner in value]
    if isinstance(value, dict):
        return {str(_mend(key)): _mend(inner) for key, inner in value.items()}
    return value
