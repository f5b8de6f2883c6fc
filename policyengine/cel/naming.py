"""What compiled code asks its surroundings for."""

from __future__ import annotations

import ast
from typing import Protocol


class Names(Protocol):
    """Where compiled code finds what is not its own: the input, derived values, shared scans of a text.

    `sure` tells that the place is reached whenever the expression is, so that the value may as well be worked out
    before; `nested` that it stands in a scope of its own, where it must have been.
    """

    def variable(self, name: str, sure: bool, nested: bool) -> ast.expr:
        """The value of a variable, already of its declared type. It raises when the input lacks it."""
        ...

    def derived(self) -> frozenset[str]:
        """The variables that are not part of the input."""
        ...

    def present(self, name: str) -> ast.expr:
        """Whether the input has a property."""
        ...

    def whole(self) -> ast.expr:
        """The whole input."""
        ...

    def mentions(self, variable: str, words: str, sure: bool, nested: bool) -> ast.expr | None:
        """Whether a string variable mentions a word list, if scans of that variable are shared."""
        ...

    def matches(self, variable: str, pattern: str, sure: bool, nested: bool) -> ast.expr | None:
        """Whether a string variable matches a known pattern, if scans of that variable are shared."""
        ...
