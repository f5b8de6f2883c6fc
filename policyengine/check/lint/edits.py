"""Edits of YAML text that keep comments and layout."""

from __future__ import annotations

import re

from policyengine.source.document import Document, Path
from policyengine.source.finding import Edit
from policyengine.source.text import Lines

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


def remove_item(document: Document, path: Path) -> Edit | None:
    """The edit that takes one item out of a list; None where a comment or an only item stands in the way."""
    text = document.text
    index = path[-1]
    items = document.value(path[:-1])
    if not isinstance(index, int) or not isinstance(items, list) or len(items) < 2:
        return None
    start, end = document.span(path)
    if text[: document.span(path[:-1])[0] + 1].endswith("["):
        if index + 1 < len(items):
            start, end = start, document.span((*path[:-1], index + 1))[0]
        else:
            start, end = document.span((*path[:-1], index - 1))[1], end
    else:
        start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        found = _LINE.match(text, end)
        end = found.end() if found else end
        if not re.fullmatch(r"[ \t]*-[ \t]+", text[start : document.span(path)[0]]):
            return None
    if "#" in text[start:end]:
        return None
    return Edit(Lines(text, document.file).place(start, end), "")


def replace_scalar(document: Document, path: Path, value: str) -> Edit | None:
    """The edit that gives a plain or quoted scalar another text; None where it would need other quotes."""
    style = document.style(path)
    if style not in ("", "'", '"') or not re.fullmatch(r"[\w][\w .:/@+-]*", value) or ": " in value:
        return None
    return Edit(document.place(path), f"{style}{value}{style}")
