"""The record that a model is shown: the entries of a span with their numbers, long outputs cut."""

from __future__ import annotations

import json
from collections.abc import Iterable

from policyengine.compression.history import Entry
from policyengine.compression.sections import Layout
from policyengine.compression.summary import size


def shown(layout: Layout, entries: Iterable[Entry]) -> str:
    """The entries, each under its number and role. Each line of a text is marked, so that none can pose as an entry."""
    lines: list[str] = []
    for entry in entries:
        if entry.kind == "thinking" or (not entry.text and entry.call is None):
            continue
        lines.append(f"#{entry.number} {_role(entry)}")
        lines += [f"| {line}" for line in _text(layout, entry).splitlines()]
    return "\n".join(lines)


def text_of(entry: Entry) -> str:
    """All words of an entry: of a call its arguments, each under its name, texts as they are."""
    if entry.call is None:
        return entry.text or ""
    arguments = entry.call.arguments
    if isinstance(arguments, str):
        return arguments
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )


def _role(entry: Entry) -> str:
    if entry.call is not None:
        return f"assistant calls {entry.call.name}"
    return entry.role + (" (error)" if entry.error else "")


def _text(layout: Layout, entry: Entry) -> str:
    text = text_of(entry)
    is_output = entry.role == "tool" or entry.call is not None
    limit = layout.limits["shown_output_bytes" if is_output else "shown_message_bytes"]
    if size(text) <= limit:
        return text
    data = text.encode("utf-8", "replace")
    head, tail = data[: limit // 2].decode("utf-8", "ignore"), data[-(limit - limit // 2) :].decode("utf-8", "ignore")
    return f"{head}\n{layout.fill('shown_cut', bytes=len(data) - limit)}\n{tail}"
