"""Functions on strings: the standard ones and the strings extension."""

from __future__ import annotations

import binascii
from collections.abc import Sequence

from policyengine.cel.errors import CelError
from policyengine.cel.library.formatting import format_text
from policyengine.cel.library.overloads import Overload, function, method
from policyengine.cel.limits import MAX_LIST_ITEMS, MAX_STRING_CHARS
from policyengine.cel.regex import matches
from policyengine.cel.types import BOOL, BYTES, DYN, INT, STRING, list_of

# Unicode's White_Space; Python's own strip() takes the separators U+001C to U+001F too
_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_LOWER = {code: code + 32 for code in range(65, 91)}
_UPPER = {code: code - 32 for code in range(97, 123)}
_QUOTED = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _bounded(text: str) -> str:
    if len(text) > MAX_STRING_CHARS:
        raise CelError(f"a string would be longer than {MAX_STRING_CHARS} characters")
    return text


def _at(text: str, at: int) -> int:
    if not 0 <= at <= len(text):
        raise CelError("index out of range")
    return at


def _char_at(text: str, at: int) -> str:
    _at(text, at)
    return text[at : at + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    return text.find(part, _at(text, start))


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    return text.rfind(part, 0, _at(text, start) + len(part))


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old)
    if 0 <= limit < count:
        count = limit
    if len(text) + count * (len(new) - len(old)) > MAX_STRING_CHARS:
        raise CelError(f"a string would be longer than {MAX_STRING_CHARS} characters")
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if separator:
        parts = text.split(separator, limit - 1 if limit > 0 else min(len(text), MAX_LIST_ITEMS))
    elif 0 < limit < len(text):
        parts = [*text[: limit - 1], text[limit - 1 :]]
    else:
        parts = list(text)
    if len(parts) > MAX_LIST_ITEMS:
        raise CelError(f"a list would have more than {MAX_LIST_ITEMS} items")
    return parts


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else _at(text, end)
    if _at(text, start) > stop:
        raise CelError("invalid range of a substring: the start is behind the end")
    return text[start:stop]


def _join(parts: Sequence[str], separator: str = "") -> str:
    if not all(type(part) is str for part in parts):
        raise CelError("no such overload: join() takes a list of strings")
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_STRING_CHARS:
        raise CelError(f"a string would be longer than {MAX_STRING_CHARS} characters")
    return separator.join(parts)


def _quote(text: str) -> str:
    return _bounded('"' + text.translate(_QUOTED) + '"')


def _decode(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except ValueError:
        raise CelError("invalid base64") from None


OVERLOADS: list[Overload] = [
    method("contains", (STRING, STRING), BOOL, str.__contains__),
    method("startsWith", (STRING, STRING), BOOL, str.startswith),
    method("endsWith", (STRING, STRING), BOOL, str.endswith),
    method("matches", (STRING, STRING), BOOL, matches),
    function("matches", (STRING, STRING), BOOL, matches),
    method("charAt", (STRING, INT), STRING, _char_at),
    method("indexOf", (STRING, STRING), INT, _index_of),
    method("indexOf", (STRING, STRING, INT), INT, _index_of),
    method("lastIndexOf", (STRING, STRING), INT, _last_index_of),
    method("lastIndexOf", (STRING, STRING, INT), INT, _last_index_of),
    method("lowerAscii", (STRING,), STRING, lambda text: text.translate(_LOWER)),
    method("upperAscii", (STRING,), STRING, lambda text: text.translate(_UPPER)),
    method("replace", (STRING, STRING, STRING), STRING, _replace),
    method("replace", (STRING, STRING, STRING, INT), STRING, _replace),
    method("split", (STRING, STRING), list_of(STRING), _split),
    method("split", (STRING, STRING, INT), list_of(STRING), _split),
    method("substring", (STRING, INT), STRING, _substring),
    method("substring", (STRING, INT, INT), STRING, _substring),
    method("trim", (STRING,), STRING, lambda text: text.strip(_SPACE)),
    method("join", (list_of(STRING),), STRING, _join),
    method("join", (list_of(STRING), STRING), STRING, _join),
    method("reverse", (STRING,), STRING, lambda text: text[::-1]),
    method("format", (STRING, list_of(DYN)), STRING, format_text),
    function("strings.quote", (STRING,), STRING, _quote),
    function("base64.encode", (BYTES,), STRING, lambda data: binascii.b2a_base64(data, newline=False).decode()),
    function("base64.decode", (STRING,), BYTES, _decode),
]
