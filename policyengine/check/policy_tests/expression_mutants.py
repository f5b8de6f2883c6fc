"""Small changes of an expression: each a token that becomes another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from policyengine.cel.errors import CelError
from policyengine.cel.lexer import Token, tokens
from policyengine.check.policy_tests.numbers import variants

_OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
}
_NAMES = {"greatest": "least", "least": "greatest", "exists": "all", "all": "exists", "ceil": "floor", "floor": "ceil"}
# What may stand before an operator that has two operands.
_OPERAND_ENDS = ("name", "quoted", "literal", ")", "]", "}")


@dataclass(frozen=True, slots=True)
class TextChange:
    """Characters `start` to `end` of a text replaced by `text`."""

    start: int
    end: int
    old: str
    text: str

    def applied(self, to: str) -> str:
        """The changed text."""
        return to[: self.start] + self.text + to[self.end :]


def changes(expression: str) -> Iterator[TextChange]:
    """Every small change of an expression, in the order of its text. None where it has no tokens."""
    try:
        found = tokens(expression)
    except CelError:
        return
    before: Token | None = None
    for token, after in zip(found, [*found[1:], None], strict=True):
        for text in _replacements(expression, token, before, after):
            yield TextChange(token.offset, token.end, expression[token.offset : token.end], text)
        before = token


def _replacements(expression: str, token: Token, before: Token | None, after: Token | None) -> Iterator[str]:
    written = expression[token.offset : token.end]
    if token.kind in _OPERATORS:
        if before is not None and before.kind in _OPERAND_ENDS:
            yield from _OPERATORS[token.kind]
        elif token.kind == "-":
            yield ""
    elif token.kind == "!":
        yield ""
    elif token.kind == "name" and written in _NAMES:
        if before is not None and before.kind == "." and after is not None and after.kind == "(":
            yield _NAMES[written]
    elif token.kind == "literal":
        yield from _literals(token.value, written)


def _literals(value: object, written: str) -> Iterator[str]:
    if isinstance(value, bool):
        yield "false" if value else "true"
    elif isinstance(value, str):
        yield json.dumps(value + "-mutant", ensure_ascii=False)
    elif isinstance(value, int | float) and not written.lower().endswith("u"):
        yield from (str(number) for number in variants(value, written))
