"""Regular expressions by RE2: matching takes linear time, whoever wrote the pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class PatternError(Exception):
    """RE2 refuses a pattern. `str()` says why, without the pattern."""


def options(max_mem: int) -> Any:
    """RE2's options: quiet, without captures, with a bound on memory (bytes)."""
    import re2  # 15 ms to import, and only some policies have patterns

    chosen = re2.Options()
    chosen.max_mem = max_mem
    chosen.log_errors = False
    chosen.never_capture = True
    return chosen


def search_of(pattern: str, max_mem: int) -> Callable[[bytes], Any]:
    """The search function of a pattern over UTF-8. Raises `PatternError`."""
    import re2

    try:
        search: Callable[[bytes], Any] = re2.compile(pattern, options(max_mem)).search
    except re2.error as error:
        reason = error.args[0] if error.args else "RE2 refuses it"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        # What follows is the pattern, which may be part of an input.
        raise PatternError(text.split(":")[0]) from None
    except UnicodeEncodeError:
        raise PatternError("it holds half a character (a lone surrogate)") from None
    return search


def utf8(text: str) -> bytes:
    """A text for RE2. A lone surrogate has no UTF-8 and can match no pattern, so it becomes a question mark."""
    return text.encode("utf-8", "replace")
