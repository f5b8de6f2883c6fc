"""Small steps every reader takes: narrow an untyped JSON value, measure a text, make a part."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from policyengine.sessions.model import Part, PartKind, Usage

Json: TypeAlias = dict[str, object]

_REDACTED = re.compile(r"\[REDACTED_[A-Z_]+ len=(\d{1,12})(?: sha=[0-9a-f]+)?\]")


def as_dict(value: object) -> Json:
    """Give the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Give the value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_str(value: object) -> str | None:
    """Give the value if it is a string with anything in it."""
    return value if isinstance(value, str) and value else None


def as_bool(value: object) -> bool | None:
    """Give the value if it is a boolean."""
    return value if isinstance(value, bool) else None


def as_count(value: object) -> int | None:
    """Give the value if it is a count of tokens: a whole number, not negative."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def time_ms(value: object) -> int | None:
    """Read an ISO 8601 time as Unix milliseconds. A time without a zone is taken as UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return round((moment if moment.tzinfo else datetime.fromisoformat(value + "Z")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def size(text: str) -> int:
    """UTF-8 size in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def to_json(value: object) -> str:
    """Write a value as the compact JSON that a request would carry."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fingerprint(arguments: Mapping[str, object] | str) -> str:
    """Hash a call's arguments so that equal ones are equal whatever the order of their keys."""
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse_arguments(value: object) -> Json | str:
    """Read a call's arguments: an object, or a string that may hold one; else the text as it is."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, str):
        return "" if value is None else to_json(value)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, dict) else value


def redacted_length(text: str) -> int | None:
    """Length of the original, where a text is nothing but a placeholder for one that was taken out."""
    match = _REDACTED.fullmatch(text) if text.startswith("[REDACTED_") else None
    return int(match[1]) if match else None


def text_part(text: str, kind: PartKind = "text", call_id: str | None = None) -> Part:
    """Make a part of a text, knowing redaction placeholders."""
    length = redacted_length(text)
    if length is not None:
        return Part(kind, None, length, call_id, redacted=True)
    return Part(kind, text, size(text), call_id)


def call_part(name: str, arguments: Json | str, call_id: str | None) -> Part:
    """Make a part of a tool call, of its arguments as `parse_arguments` reads them."""
    text = arguments if isinstance(arguments, str) else to_json(arguments)
    length = redacted_length(text)
    if length is not None:
        return Part("tool_call", None, size(name) + length, call_id, redacted=True)
    return Part("tool_call", text, size(name) + size(text), call_id)


def media_part(kind: PartKind, payload: object, call_id: str | None = None) -> Part:
    """Make a part of an image or a document. Its payload is measured and let go: it can be megabytes."""
    return Part(kind, None, size(payload if isinstance(payload, str) else to_json(payload)), call_id)


def json_part(value: object, call_id: str | None = None) -> Part:
    """Make a part of content that is neither text nor a tool call, as the JSON it stands in."""
    text = to_json(value)
    return Part("json", text, size(text), call_id)


def without_elements(text: str, tags: tuple[str, ...]) -> str:
    """Take out the elements with which a product wraps its own words into a message.

    An element that is never closed stays as it is.
    """
    for tag in tags:
        opening, closing = f"<{tag}", f"</{tag}>"
        kept: list[str] = []
        at = 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            kept.append(text[at:start])
            at = end + len(closing)
        text = "".join(kept) + text[at:] if kept else text
    return text


def reported(usage: Usage) -> Usage | None:
    """Tell a report from none: one whose prompt counts are all 0 or missing says nothing about the prompt."""
    if any((usage.input, usage.cache_read, usage.cache_write)):
        return usage
    if usage.output or usage.reasoning:
        return Usage(output=usage.output, reasoning=usage.reasoning)
    return None
