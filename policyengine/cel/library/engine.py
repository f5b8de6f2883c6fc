"""The engine's own functions, as expressions call them."""

from __future__ import annotations

from policyengine.cel.functions import WordMatcher, estimate_tokens, fingerprint
from policyengine.cel.library.overloads import Overload, function, method
from policyengine.cel.types import BOOL, DOUBLE, DYN, INT, STRING, WORDS


def _mentions(text: str, words: WordMatcher) -> bool:
    return words(text)


OVERLOADS: list[Overload] = [
    method("mentions", (STRING, WORDS), BOOL, _mentions),
    function("fingerprint", (DYN,), STRING, fingerprint),
    function("estimate_tokens", (STRING, INT), INT, estimate_tokens),
    function("estimate_tokens", (STRING, DOUBLE), INT, estimate_tokens),
]
