"""Many word lists or patterns over one text in a single pass."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

from policyengine.cel.functions import WordMatcher
from policyengine.cel.limits import MAX_WORDS_MEMORY
from policyengine.cel.regex import options, utf8

Found = Container[int]
"""Which of the lists or patterns matched, by number."""

_HEAD = 512
"""A long text's beginning is looked at first (bytes): what is asked about most is often there."""
_LONG = 4096


class _LongText:
    """What matched in a long text: its beginning is searched at once, the rest when it is asked about."""

    __slots__ = ("all", "head", "match", "text")

    def __init__(self, match: Callable[[bytes], list[int]], text: bytes, cut: int) -> None:
        self.match, self.text = match, text
        self.head = match(text[:cut])
        self.all: list[int] | None = None

    def __contains__(self, number: object) -> bool:
        if number in self.head:
            return True
        if self.all is None:
            self.all = self.match(self.text)
        return number in self.all


def _set_of(patterns: Sequence[str]) -> Callable[[bytes], list[int]]:
    """One RE2 set; its match gives the numbers of the patterns that are found."""
    import re2

    together = re2.Set.SearchSet(options(MAX_WORDS_MEMORY))
    for pattern in patterns:
        together.Add(pattern)
    together.Compile()
    inner: Any = getattr(together, "_set", None)  # past a wrapper that costs a tenth of a short search
    found: Callable[[bytes], list[int]] = inner.Match if inner is not None else lambda text: together.Match(text) or []
    return found


def word_scanner(lists: Sequence[WordMatcher]) -> Callable[[str], Found]:
    """A function telling which of the word lists a text mentions, exactly as each list's own matcher would."""
    # an empty list matches nothing: neither does an end of text before its beginning
    match = _set_of([one.pattern or r"$[^\x00-\x{10FFFF}]" for one in lists])

    def scan(text: str) -> Found:
        data = text.lower().encode("utf-8", "replace")
        if len(data) < _LONG:
            return match(data)
        # cut where a space stands: there, the cut looks to every word as the text would
        cut = data.rfind(b" ", 0, _HEAD)
        return _LongText(match, data, cut) if cut > 0 else match(data)

    return scan


def pattern_scanner(patterns: Sequence[str]) -> Callable[[str], Found]:
    """A function telling which of the patterns a text holds a match of. All must be known to compile."""
    if len(patterns) == 1:
        from policyengine.cel.regex import pattern_search

        search = pattern_search(patterns[0])
        return lambda text: (0,) if search(utf8(text)) is not None else ()
    match = _set_of(patterns)
    return lambda text: match(text.encode("utf-8", "replace"))
