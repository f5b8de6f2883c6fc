"""A JSON document of messages: one text, perhaps cut off, perhaps over many lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from policyengine.sessions.content import Json, as_list
from policyengine.sessions.lines import safe

# Where a document that is an object keeps its messages.
_MESSAGE_KEYS: Final = ("messages", "contents", "input", "history", "items")
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Document:
    """A document's messages, the fields around them, whether its end is missing, and lines outside of it."""

    fields: Json
    messages: list[object]
    cut: bool = False
    outside: int = 0


def is_document(fields: Json) -> bool:
    """Whether an object holds a list of messages rather than being one."""
    return "role" not in fields and any(isinstance(fields.get(key), list) for key in _MESSAGE_KEYS)


def document_of(fields: Json, outside: int = 0) -> Document:
    """Make a document of an object for which `is_document` holds."""
    key = next(key for key in _MESSAGE_KEYS if isinstance(fields.get(key), list))
    around = {other: value for other, value in fields.items() if other != key}
    return Document(around, as_list(fields[key]), outside=outside)


def read_document(text: str) -> Document | None:
    """Read a text as a document; what stands before a cut is used. None where the text is no document."""
    at = _skip(text, 0)
    if text.startswith("{", at):
        return _object(text, at)
    if not text.startswith("[", at):
        return None
    messages, at, cut = _elements(text, at)
    return Document({}, messages, cut) if cut or _ended(text, at) else None


def _object(text: str, at: int) -> Document | None:
    fields: Json = {}
    messages: list[object] | None = None
    at = _skip(text, at + 1)
    try:
        while not text.startswith("}", at):
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if not isinstance(key, str) or not text.startswith(":", at):
                break
            at = _skip(text, at + 1)
            if key in _MESSAGE_KEYS and messages is None and text.startswith("[", at):
                messages, at, cut = _elements(text, at)
                if cut:
                    break
            else:
                start = at
                value, at = _DECODER.raw_decode(text, at)
                fields[key] = safe(value, text[start:at])
            at = _next(text, at, "}")
    except (ValueError, RecursionError):
        pass
    if messages is None:
        return None
    if text.startswith("}", at):
        return Document(fields, messages) if _ended(text, at + 1) else None
    return Document(fields, messages, cut=True)


def _elements(text: str, at: int) -> tuple[list[object], int, bool]:
    """Read an array's elements one by one up to its end, or to where it cannot be read."""
    found: list[object] = []
    at = _skip(text, at + 1)
    while not text.startswith("]", at):
        try:
            value, after = _DECODER.raw_decode(text, at)
            found.append(safe(value, text[at:after]))
            at = _next(text, after, "]")
        except (ValueError, RecursionError):
            return found, at, True
    return found, at + 1, False


def _next(text: str, at: int, end: str) -> int:
    """Step over a comma to what follows, or stay at the end mark. Raises ValueError at anything else."""
    at = _skip(text, at)
    if text.startswith(",", at):
        return _skip(text, at + 1)
    if text.startswith(end, at):
        return at
    raise ValueError(at)


def _ended(text: str, at: int) -> bool:
    return _skip(text, at) == len(text)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
