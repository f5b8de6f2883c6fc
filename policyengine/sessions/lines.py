"""From bytes to JSON objects: the lines of a JSONL file, the messages of a JSON document."""

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


def read_lines(stream: BinaryIO) -> Iterator[tuple[Json | str, int]]:
    """Give each line as a JSON object, or the reason why it is none, and its length in bytes."""
    first = True
    for raw in stream:
        body = raw.removeprefix(_BOM) if first else raw
        first = False
        yield parse_line(body, complete=raw.endswith(b"\n")), len(raw)


def parse_line(raw: bytes, *, complete: bool = True) -> Json | str:
    """Read one line. A line without its end that cannot be read is taken for cut off, not for wrong."""
    if not raw.strip():
        return "blank line"
    try:
        value = parse_json(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8" if complete else "truncated last line"
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "bad JSON" if complete else "truncated last line"
    return value if isinstance(value, dict) else "not an object"


def parse_json(text: str) -> object:
    """Read a JSON text. Raises ValueError where it is none, RecursionError where it is nested too deeply."""
    return _safe(json.loads(text), text)


def _safe(value: object, text: str) -> object:
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
            for inner in (
                outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
            )
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


_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
# Where a document that is an object keeps its messages.
MESSAGE_KEYS: Final = ("messages", "contents", "input", "history", "items")


def read_document(text: str) -> tuple[Json, list[object], bool] | None:
    """Read a JSON document of messages: its other fields, its messages, and whether its end is missing.

    Gives None where the text is no such document. What stands before a cut is used.
    """
    at = _skip(text, 0)
    if text.startswith("[", at):
        found, _, cut = _elements(text, at)
        return {}, found, cut
    if not text.startswith("{", at):
        return None
    fields: Json = {}
    messages: list[object] | None = None
    at = _skip(text, at + 1)
    cut = True
    try:
        while not text.startswith("}", at):
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or not text.startswith(":", at):
                break
            at = _skip(text, at + 1)
            if key in MESSAGE_KEYS and messages is None and text.startswith("[", at):
                messages, at, cut = _elements(text, at)
                if cut:
                    break
                cut = True
            else:
                value, at = _DECODER.raw_decode(text, at)
                fields[key] = _safe(value, text)
            at = _skip(text, at)
            if text.startswith(",", at):
                at = _skip(text, at + 1)
            elif not text.startswith("}", at):
                break
        else:
            cut = bool(text[_skip(text, at + 1) :])
    except (ValueError, RecursionError):
        pass
    return None if messages is None else (fields, messages, cut)


def _elements(text: str, at: int) -> tuple[list[object], int, bool]:
    """Read an array's elements one by one up to its end or to where it cannot be read."""
    found: list[object] = []
    at = _skip(text, at + 1)
    while not text.startswith("]", at):
        try:
            value, after = _DECODER.raw_decode(text, at)
            found.append(_safe(value, text[at:after]))
        except (ValueError, RecursionError):
            return found, at, True
        at = _skip(text, after)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("]", at):
            return found, at, True
    return found, at + 1, False


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
