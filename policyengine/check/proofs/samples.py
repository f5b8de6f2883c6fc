"""Texts that a regular expression is likely to match: a handful, made from its parts."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator
from typing import Any

_SCRIPTS = {
    "Han": "你", "Hiragana": "こ", "Katakana": "カ", "Hangul": "한", "Cyrillic": "п", "Arabic": "ع", "Hebrew": "ש",
    "Thai": "ก", "Devanagari": "अ", "Greek": "α", "Latin": "a",
}  # fmt: skip
"""One letter of each script that a pattern may name."""

_MOST = 12
_SCRIPT = re.compile(r"\\p\{(\w+)\}")


def of_pattern(pattern: str) -> list[str]:
    """Texts made from a pattern. Whether they match is for the engine to say; most texts are no pattern at all."""
    plain = _SCRIPT.sub(lambda found: _SCRIPTS.get(found[1], "a"), pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = re._parser.parse(plain)  # type: ignore[attr-defined]
        return list(dict.fromkeys(itertools.islice(_sequences(list(parsed)), _MOST)))
    except (re.error, RecursionError, OverflowError):
        return []


def _sequences(parts: list[Any]) -> Iterator[str]:
    choices = [list(itertools.islice(_part(str(op), value), 4)) for op, value in parts]
    return ("".join(chosen) for chosen in itertools.product(*choices))


def _part(op: str, value: Any) -> Iterator[str]:
    if op == "LITERAL":
        yield chr(value)
    elif op == "NOT_LITERAL":
        yield "a" if value != ord("a") else "b"
    elif op == "ANY":
        yield "x"
    elif op == "IN":
        yield from _set([(str(kind), item) for kind, item in value])
    elif op == "BRANCH":
        for branch in value[1]:
            yield from itertools.islice(_sequences(list(branch)), 2)
    elif op == "SUBPATTERN":
        yield from _sequences(list(value[-1]))
    elif op in ("MAX_REPEAT", "MIN_REPEAT"):
        low, high, inner = value
        for count in dict.fromkeys((low, min(low + 1, int(high)))):
            for text in itertools.islice(_sequences(list(inner)), 2):
                yield text * count
    else:  # anchors and the like take no room
        yield ""


_CLASSES = {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}


def _set(items: list[tuple[str, Any]]) -> Iterator[str]:
    if items and items[0][0] == "NEGATE":
        taken = {chr(item) for kind, item in items[1:] if kind == "LITERAL"}
        yield next(char for char in "a0 _-~" if char not in taken)
        return
    for kind, item in items:
        if kind == "LITERAL":
            yield chr(item)
        elif kind == "RANGE":
            yield chr(item[0])
        elif kind == "CATEGORY":
            yield _CLASSES.get(str(item), "a")
