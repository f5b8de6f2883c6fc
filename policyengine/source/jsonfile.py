"""Strict JSON for inputs: no duplicate keys, no NaN, nothing after the value, and errors with their place."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NoReturn

from policyengine.source.core_schema import INT64_MAX, INT64_MIN
from policyengine.source.errors import InputError
from policyengine.source.secrets import brief
from policyengine.source.text import Lines, UnreadableError, decode, read_text, shown_path

# Safety limits of the reader. An input holds at most a long history, some megabytes of text.
MAX_INPUT_BYTES = 50_000_000
MAX_DEPTH = 100

STDIN = "-"

_WHITE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
# Half a surrogate pair may be among these escapes; the quick parser would let it pass.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file, or on standard input where `path` is `-`.

    Raises InputError with line and column.
    """
    if path == STDIN:
        file = "<stdin>"
        data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        if len(data) > MAX_INPUT_BYTES:
            raise InputError(f"<stdin>: larger than {MAX_INPUT_BYTES // 1_000_000} MB, the most this reader takes")
        try:
            text = decode(data, file)
        except UnreadableError as error:
            raise _unreadable(error) from None
    else:
        file = shown_path(path)
        try:
            text = read_text(path, MAX_INPUT_BYTES)
        except UnreadableError as error:
            raise _unreadable(error) from None
    return parse_json(text, file)


def parse_json(text: str, file: str) -> Any:
    """The value of the JSON in `text`; `file` is the name that errors carry. Raises InputError."""
    text = text.removeprefix("\ufeff")
    try:
        # The standard parser is quick; where it, or a hook, objects, the reader below finds out where.
        if _SURROGATE.search(text):
            raise ValueError
        value = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=_object_to,
            parse_int=_integer,
            parse_float=_float,
        )
        _check_depth(value)
        return value
    except (ValueError, RecursionError):
        return _Reader(text, file).read()


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value


def _object_to(_: str) -> NoReturn:
    raise ValueError


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise ValueError


def _integer(text: str) -> int:
    value = int(text) if len(text) <= 20 else INT64_MAX + 1
    if not INT64_MIN <= value <= INT64_MAX:
        raise ValueError
    return value


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError
    return value


def _unreadable(error: UnreadableError) -> InputError:
    hint = f"; {error.hint}" if error.hint else ""
    return InputError(f"{error}{hint}", error.place)


class _Reader:
    """A slow reader that knows where it is; used to say what is wrong after the quick one failed."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._lines = Lines(text, file)
        self._at = 0

    def read(self) -> Any:
        self._skip()
        if self._at >= len(self._text):
            self._fail(0, "the input is empty; expected a JSON value")
        value = self._value(1)
        self._skip()
        if self._at < len(self._text):
            self._fail(self._at, "unexpected text after the JSON value; expected the end of the input")
        return value

    def _fail(self, at: int, message: str) -> NoReturn:
        raise InputError(message, self._lines.place(at))

    def _skip(self) -> None:
        found = _WHITE.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _value(self, depth: int) -> Any:
        char = self._text[self._at : self._at + 1]
        if char in ("{", "["):
            if depth > MAX_DEPTH:
                self._fail(self._at, f"values are nested deeper than {MAX_DEPTH} levels")
            return self._object(depth) if char == "{" else self._array(depth)
        if char == '"':
            return self._string()
        if found := _NUMBER.match(self._text, self._at):
            return self._number(found)
        word = _WORD.match(self._text, self._at)
        if word and word.group() in _WORDS:
            self._at = word.end()
            return _WORDS[word.group()]
        if word and word.group() in ("NaN", "Infinity"):
            self._fail(self._at, f"{word.group()} is not JSON; expected a finite number")
        if word and word.group() in ("True", "False", "None"):
            right = {"True": "true", "False": "false", "None": "null"}[word.group()]
            self._fail(self._at, f"{word.group()} is not JSON; write {right}")
        if self._text.startswith("-Infinity", self._at):
            self._fail(self._at, "-Infinity is not JSON; expected a finite number")
        if char == "'":
            self._fail(self._at, "single quotes are not JSON; use double quotes")
        if not char:
            self._fail(self._at, "the input ends where a value is expected")
        return self._fail(self._at, "expected a JSON value here")

    def _object(self, depth: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        lines: dict[str, int] = {}
        opened = self._at
        self._at += 1
        self._skip()
        if self._take("}"):
            return value
        while True:
            self._skip()
            at = self._at
            if not self._text.startswith('"', at):
                if self._text.startswith("}", at):
                    self._fail(at, "there is a comma before `}`; remove it")
                self._fail(at, "expected a key in double quotes")
            key = self._string()
            if key in lines:
                first = self._lines.position(lines[key])[0]
                self._fail(at, f"duplicate key {_shown(key)}; first on line {first}")
            lines[key] = at
            self._skip()
            if not self._take(":"):
                self._fail(self._at, f"expected `:` after the key {_shown(key)}")
            self._skip()
            value[key] = self._value(depth + 1)
            if not self._more("}", opened):
                return value

    def _array(self, depth: int) -> list[Any]:
        value: list[Any] = []
        opened = self._at
        self._at += 1
        self._skip()
        if self._take("]"):
            return value
        while True:
            self._skip()
            if self._text.startswith("]", self._at):
                self._fail(self._at, "there is a comma before `]`; remove it")
            value.append(self._value(depth + 1))
            if not self._more("]", opened):
                return value

    def _more(self, close: str, opened: int) -> bool:
        self._skip()
        if self._take(","):
            return True
        if self._take(close):
            return False
        line = self._lines.position(opened)[0]
        opening = self._text[opened]
        if self._at >= len(self._text):
            self._fail(self._at, f"the input ends before the `{opening}` of line {line} is closed with `{close}`")
        return self._fail(self._at, f"expected `,` or `{close}` (`{opening}` was opened on line {line})")

    def _take(self, char: str) -> bool:
        if self._text.startswith(char, self._at):
            self._at += 1
            return True
        return False

    def _number(self, found: re.Match[str]) -> int | float:
        at, text = self._at, found.group()
        self._at = found.end()
        if self._text[self._at : self._at + 1].isdigit():
            self._fail(at, "a number must not begin with 0; remove the zero, or quote it to mean the text")
        try:
            return _float(text) if found[1] or found[2] else _integer(text)
        except ValueError:
            self._fail(at, "the number is outside the range of 64 bits")

    def _string(self) -> str:
        found = _STRING.match(self._text, self._at)
        if found is None:
            end = self._text.find("\n", self._at)
            line = self._text[self._at : end if end >= 0 else len(self._text)]
            if control := re.search(r"[\x00-\x1f]", line.rstrip("\r")):
                self._fail(self._at + control.start(), "a control character stands in the text; write its escape")
            self._fail(self._at, "the quote that opens here is not closed on its line")
        try:
            value: str = json.loads(found.group())
        except ValueError as error:
            self._fail(self._at + int(getattr(error, "pos", 0)), "invalid escape in the text")
        if not value.isascii() and _LONE.search(value):
            self._fail(self._at, "the text has half a surrogate pair; write both halves, or the character")
        self._at = found.end()
        return value


def _shown(key: str) -> str:
    return json.dumps(brief(key), ensure_ascii=False)
