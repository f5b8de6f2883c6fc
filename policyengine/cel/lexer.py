"""Text to tokens."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from policyengine.cel.errors import CelSyntaxError, Issue
from policyengine.cel.limits import MAX_EXPRESSION_CHARS, MAX_INT, MAX_UINT
from policyengine.cel.values import UInt


class Token(NamedTuple):
    """`kind` is the operator or keyword itself, or one of name, quoted, literal, end."""

    kind: str
    value: Any
    offset: int
    end: int


_TOKEN = re.compile(
    r"""
    (?P<space>(?:[\t\n\f\r ]+|//[^\n]*)+)
  | (?P<string>[rR]?(?:\"{3}|'{3}|["'])|[bB][rR]?(?:\"{3}|'{3}|["'])|[rR][bB](?:\"{3}|'{3}|["']))
  | (?P<float>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU])?
  | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
  | `(?P<quoted>[a-zA-Z0-9_./\- ]+)`
  | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
# (quote, raw, triple) -> what stands between the quotes; a raw string has no escapes, not even of its own quote
_BODIES = {
    (quote, raw, triple): re.compile(pattern.replace("Q", quote), re.DOTALL)
    for quote in "\"'"
    for raw, triple, pattern in (
        (False, False, r"((?:[^\n\r\\Q]|\\[^\n\r])*)Q"),
        (False, True, r"((?:[^\\Q]|\\.|Q(?!QQ))*)QQQ"),
        (True, False, r"([^\n\rQ]*)Q"),
        (True, True, r"(.*?)QQQ"),
    )
}
_KEYWORDS = {"true": True, "false": False, "null": None}
_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "?": "?",
    '"': '"',
    "'": "'",
    "`": "`",
}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def too_large(message: str, offset: int, end: int) -> CelSyntaxError:
    """An expression beyond one of the bounds in `limits`."""
    hint = "name parts of it under derived:, or move words and numbers to lists"
    return CelSyntaxError(Issue("limit", message, offset, max(end - offset, 1), hint))


def fail(message: str, offset: int, end: int, hint: str | None = None) -> CelSyntaxError:
    """A syntax error at a stretch of the text."""
    return CelSyntaxError(Issue("syntax", message, offset, max(end - offset, 1), hint))


def tokens(text: str) -> list[Token]:
    """Split a text into tokens; the last has kind `end`. Raises CelSyntaxError."""
    if len(text) > MAX_EXPRESSION_CHARS:
        raise too_large(f"the expression is longer than {MAX_EXPRESSION_CHARS} characters", 0, 1)
    if (lone := _LONE_SURROGATE.search(text)) is not None:
        raise fail("half of a character (a lone surrogate) cannot stand in an expression", lone.start(), lone.end())
    found: list[Token] = []
    offset = 0
    match_at = _TOKEN.match
    while offset < len(text):
        match = match_at(text, offset)
        if match is None:
            raise _unexpected(text, offset)
        kind, end = match.lastgroup, match.end()
        value = match.group()
        if kind == "name":
            if value in _KEYWORDS:
                found.append(Token("literal", _KEYWORDS[value], offset, end))
            else:
                found.append(Token("in" if value == "in" else "name", value, offset, end))
        elif kind == "op":
            found.append(Token(value, value, offset, end))
        elif kind == "string":
            end = _string(text, offset, end, value, found)
        elif kind in ("int", "unsigned"):
            found.append(Token("literal", _integer(match, offset, end), offset, end))
        elif kind == "float":
            found.append(Token("literal", float(value), offset, end))
        elif kind == "quoted":
            found.append(Token("quoted", match.group("quoted"), offset, end))
        offset = end
    found.append(Token("end", None, len(text), len(text)))
    return found


def _unexpected(text: str, offset: int) -> CelSyntaxError:
    char = text[offset]
    hints = {
        "=": "compare with ==",
        "&": "the logical operator is &&",
        "|": "the logical operator is ||",
        "`": "a quoted field is written `like-this` and holds letters, digits, _ . - / and spaces",
    }
    return fail(f"unexpected character {char!r}", offset, offset + 1, hints.get(char))


class BigInt(int):
    """The literal 9223372036854775808, which is an int only behind a minus sign."""


def _integer(match: re.Match[str], offset: int, end: int) -> int:
    digits = match.group("int")
    if len(digits) > 24:
        raise fail("integer literal out of range: 64 bits", offset, end)
    value = int(digits, 16) if digits.startswith("0x") else int(digits)
    if match.group("unsigned"):
        if value > MAX_UINT:
            raise fail("unsigned integer literal out of range: 64 bits", offset, end)
        return UInt(value)
    if value > MAX_INT:
        if value == MAX_INT + 1:
            return BigInt(value)
        raise fail("integer literal out of range: 64 bits", offset, end, "write 5u for an unsigned integer")
    return value


def _string(text: str, start: int, end: int, opening: str, found: list[Token]) -> int:
    quote = opening[-1]
    prefix = opening.rstrip("\"'").lower()
    triple = opening.endswith(quote * 3)
    match = _BODIES[quote, "r" in prefix, triple].match(text, end)
    if match is None:
        raise fail("string literal without its closing quote", start, end)
    body = match.group(1)
    value: str | bytes
    if "r" not in prefix and "\\" in body:
        value = _unescape_bytes(body, end) if "b" in prefix else _unescape(body, end)
    else:
        value = body.encode() if "b" in prefix else body
    found.append(Token("literal", value, start, match.end()))
    return match.end()


def _unescape(body: str, base: int) -> str:
    def one(match: re.Match[str]) -> str:
        hex2, hex4, hex8, octal, simple = match.groups()
        if simple is not None:
            return _simple(simple, match, base)
        code = int(octal, 8) if octal else int(hex2 or hex4 or hex8, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise fail("escape is not a Unicode character", base + match.start(), base + match.end())
        return chr(code)

    return _ESCAPE.sub(one, body)


def _unescape_bytes(body: str, base: int) -> bytes:
    parts: list[bytes] = []
    last = 0
    for match in _ESCAPE.finditer(body):
        parts.append(body[last : match.start()].encode())
        last = match.end()
        hex2, hex4, hex8, octal, simple = match.groups()
        if simple is not None:
            parts.append(_simple(simple, match, base).encode())
        elif hex4 or hex8:
            raise fail("\\u is not allowed in bytes", base + match.start(), base + match.end())
        else:
            parts.append(bytes([int(octal, 8) if octal else int(hex2, 16)]))
    parts.append(body[last:].encode())
    return b"".join(parts)


def _simple(char: str, match: re.Match[str], base: int) -> str:
    if char not in _SIMPLE_ESCAPES:
        raise fail(
            f"unknown escape \\{char}",
            base + match.start(),
            base + match.end(),
            r"write \\ for a backslash, or a raw string r'...' for a regular expression",
        )
    return _SIMPLE_ESCAPES[char]
