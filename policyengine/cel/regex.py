"""Regular expressions: RE2, so that matching takes linear time, with bounds on their size."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_REGEX_CHARS, MAX_REGEX_MEMORY, MAX_WORDS_MEMORY
from policyengine.source.regex import PatternError, options, search_of, utf8

__all__ = ["matches", "options", "pattern_search", "utf8", "words_search"]


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
    try:
        return search_of(pattern, max_mem)
    except PatternError as error:
        raise CelError(f"invalid regular expression: {error}") from None


def matches(text: str, pattern: str) -> bool:
    """Whether a text holds a match of a pattern. Raises CelError."""
    return pattern_search(pattern)(utf8(text)) is not None
