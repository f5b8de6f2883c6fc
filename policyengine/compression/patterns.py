"""Patterns that policies state, with their groups. RE2, so that no policy and no text can make matching slow."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from policyengine.cel.limits import MAX_REGEX_CHARS, MAX_REGEX_MEMORY
from policyengine.source.errors import InputError


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """A compiled pattern. Raises InputError for one that RE2 refuses."""
    import re2

    if len(pattern) > MAX_REGEX_CHARS:
        raise InputError(f"a pattern is longer than {MAX_REGEX_CHARS} characters")
    options = re2.Options()
    options.max_mem = MAX_REGEX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "RE2 refuses it"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InputError(f"the pattern {pattern!r} is invalid: {text}") from None


def found_in(text: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns matches somewhere in the text."""
    return any(compiled(pattern).search(clean(text)) is not None for pattern in patterns)


def groups(text: str, patterns: Iterable[str]) -> list[str]:
    """What the first group of each pattern matches in the text, in order, without doubles."""
    text = clean(text)
    found: dict[str, None] = {}
    for pattern in patterns:
        expression = compiled(pattern)
        for match in expression.finditer(text):
            value = match.group(1) if expression.groups else match.group(0)
            if value:
                found.setdefault(value)
    return list(found)


def clean(text: str) -> str:
    """A text that RE2 can take: a lone surrogate has no UTF-8 and becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
