"""Regular expressions: RE2, so that matching takes linear time, with bounds on their size."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_REGEX_CHARS, MAX_REGEX_MEMORY, MAX_WORDS_MEMORY


def options(max_mem: int) -> Any:
    """RE2's options: quiet, without captures, with a bound on memory (bytes)."""
    import re2  # 15 ms to import, and only some policies have patterns

    chosen = re2.Options()
    chosen.max_mem = max_mem
    chosen.log_errors = False
    chosen.never_capture = True
    return chosen


@lru_cache(maxsize=512)
def pattern_search(pattern: str) -> Callable[[bytes], Any]:
    """The search function of a pattern over UTF-8. Raises CelError for a pattern that RE2 refuses."""
    if len(pattern) > MAX_REGEX_CHARS:
        raise CelError(f"a regular expression is longer than {MAX_REGEX_CHARS} characters")
    return _search(pattern, MAX_REGEX_MEMORY)


def words_search(pattern: str) -> Callable[[bytes], Any]:
    """The same for a pattern made of a word list, which may be long. Raises CelError."""
    return _search(pattern, MAX_WORDS_MEMORY)


def _search(pattern: str, max_mem: int) -> Callable[[bytes], Any]:
    import re2

    try:
        search: Callable[[bytes], Any] = re2.compile(pattern, options(max_mem)).search
    except re2.error as error:
        reason = error.args[0] if error.args else "RE2 refuses it"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        text = text.split(":")[0]  # what follows is the pattern, which may be part of an input
        raise CelError(f"invalid regular expression: {text}") from None
    return search


def utf8(text: str) -> bytes:
    """A text for RE2. A lone surrogate has no UTF-8 and can match no pattern, so it becomes a question mark."""
    return text.encode("utf-8", "replace")


def matches(text: str, pattern: str) -> bool:
    """Whether a text holds a match of a pattern. Raises CelError."""
    return pattern_search(pattern)(utf8(text)) is not None
