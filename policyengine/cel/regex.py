"""Regular expressions: RE2, so that matching takes linear time, with bounds on their size."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_REGEX_CHARS, MAX_REGEX_MEMORY


@lru_cache(maxsize=512)
def searcher(pattern: str) -> Callable[[str], bool]:
    """A function telling whether a text holds a match. Raises CelError for a pattern that RE2 refuses."""
    import re2  # 15 ms to import, and only some policies have patterns

    if len(pattern) > MAX_REGEX_CHARS:
        raise CelError(f"a regular expression is longer than {MAX_REGEX_CHARS} characters")
    options = re2.Options()
    options.max_mem = MAX_REGEX_MEMORY
    options.log_errors = False
    options.never_capture = True
    try:
        search = re2.compile(pattern, options).search
    except re2.error as error:
        reason = error.args[0] if error.args else "RE2 refuses it"
        raise CelError(
            f"invalid regular expression: {reason.decode() if isinstance(reason, bytes) else reason}"
        ) from None

    def matches(text: str) -> bool:
        # bytes skip re2's translation of positions; a lone surrogate has no UTF-8 and can match no pattern
        return search(text.encode("utf-8", "replace")) is not None

    return matches
