"""The engine's own functions, for expressions and for Python callers alike."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_VALUE_DEPTH
from policyengine.cel.regex import matches, utf8, words_search


class WordMatcher:
    """Tells whether a text mentions one of some words.

    The text is lower-cased first; the words are taken as they are and should be lower case. A word that has a Latin
    letter, a digit or an underscore at an end matches only where none of these goes on at that end ("add" is not in
    "address"); anywhere else, such as in Chinese, it matches inside text.
    """

    __slots__ = ("_search", "words")

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(word for word in words if word))
        self._search: Callable[[bytes], Any] | None = None

    def __call__(self, text: str) -> bool:
        """Whether `text` mentions any of the words."""
        return self.search(utf8(text.lower())) is not None

    @property
    def pattern(self) -> str:
        """The words as one pattern over lower-cased text; empty when there are none."""
        bounded: dict[tuple[str, str], list[str]] = {}
        for word in self.words:
            ends = (_START if _is_wordy(word[0]) else "", _END if _is_wordy(word[-1]) else "")
            bounded.setdefault(ends, []).append("".join("\\" + char if char in _META else char for char in word))
        return "|".join(f"{start}(?:{'|'.join(words)}){end}" for (start, end), words in bounded.items())

    @property
    def search(self) -> Callable[[bytes], Any]:
        """The search over UTF-8 of an already lower-cased text; it gives None where there is no match."""
        if self._search is None:
            pattern = self.pattern
            self._search = words_search(pattern) if pattern else _never
        return self._search


def _never(_text: bytes) -> None:
    return None


_START = r"(?:^|[^\p{Latin}0-9_])"
_END = r"(?:$|[^\p{Latin}0-9_])"
_META = frozenset(r"\.+*?()|[]{}^$")


def _is_wordy(char: str) -> bool:
    return char == "_" or char in "0123456789" or _is_latin(char)


@lru_cache(maxsize=1024)
def _is_latin(char: str) -> bool:
    if char.isascii():
        return char.isalpha()
    return matches(char, r"^\p{Latin}$")


@lru_cache(maxsize=256)
def matcher(words: tuple[str, ...]) -> WordMatcher:
    """The matcher of a word list; one per list however often it is asked for."""
    return WordMatcher(words)


def mentions(text: str, words: Iterable[str]) -> bool:
    """Whether a text mentions one of some lower-case words; see `WordMatcher`."""
    return matcher(tuple(words))(text)


def fingerprint(value: Any) -> str:
    """A short stable hash of a JSON value: 16 hexadecimal digits.

    The order of keys does not count, and 1.0 is 1. Raises CelError for what is not JSON.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
        if ".0" in text or "e+" in text:
            text = json.dumps(_whole(value), sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_whole(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _whole(value: Any, depth: int = 0) -> Any:
    if depth > MAX_VALUE_DEPTH:
        raise CelError("a value is nested too deeply to fingerprint")
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) else value
    if isinstance(value, Mapping):
        return {str(key): _whole(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item, depth + 1) for item in value]
    if value is None or isinstance(value, (str, int)):
        return value
    raise CelError("only JSON values have a fingerprint")


def estimate_tokens(text: str, bytes_per_token: float) -> int:
    """Estimated tokens of a text: its UTF-8 bytes divided by `bytes_per_token`, rounded up. Raises CelError."""
    if not bytes_per_token > 0:
        raise CelError("bytes per token must be above 0")
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    tokens = size / bytes_per_token
    if tokens > 2**53:
        raise CelError("token estimate out of range")
    return math.ceil(tokens)
