"""Conversions between types, `size` and `type`."""

from __future__ import annotations

import math
import re
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.library.overloads import Overload, function, method
from policyengine.cel.limits import MAX_INT, MAX_UINT, MIN_INT
from policyengine.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    type_of_type,
    var,
)
from policyengine.cel.values import Duration, Timestamp, UInt, type_of

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_TRUE, _FALSE = (
    frozenset(("1", "t", "T", "true", "True", "TRUE")),
    frozenset(("0", "f", "F", "false", "False", "FALSE")),
)


def double_to_text(value: float) -> str:
    """A double as the specification's examples print it: shortest, without a needless fraction."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    return text


def _double_to_int(value: float) -> int:
    # the ends are excluded: a double there may stand for an integer beyond them
    if not -(2.0**63) < value < 2.0**63:
        raise CelError("double out of range of int")
    return int(value)


def _double_to_uint(value: float) -> UInt:
    if not -1.0 < value < 2.0**64:
        raise CelError("double out of range of uint")
    if value < 0:
        raise CelError("double out of range of uint")
    return UInt(int(value))


def _text_to_int(value: str) -> int:
    if not _INTEGER.fullmatch(value):
        raise CelError("a string is not an int")
    number = int(value)
    if not MIN_INT <= number <= MAX_INT:
        raise CelError("a string is out of range of int")
    return number


def _text_to_uint(value: str) -> UInt:
    if not _INTEGER.fullmatch(value) or value[0] in "+-":
        raise CelError("a string is not a uint")
    return _to_uint(int(value))


def _to_uint(value: int) -> UInt:
    if not 0 <= value <= MAX_UINT:
        raise CelError("integer out of range of uint")
    return UInt(value)


def _uint_to_int(value: int) -> int:
    if value > MAX_INT:
        raise CelError("uint out of range of int")
    return int(value)


def _text_to_double(value: str) -> float:
    if len(value) > 1000 or not (_NUMBER.fullmatch(value) or _SPECIAL.fullmatch(value)):
        raise CelError("a string is not a double")
    return float(value)


def _text_to_bool(value: str) -> bool:
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise CelError("a string is not a bool: true or false")


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes") from None


def whole_seconds(nanos: int) -> int:
    """Nanoseconds as seconds, cut towards zero; a double would round large ones up."""
    seconds = abs(nanos) // 1_000_000_000
    return -seconds if nanos < 0 else seconds


def _same(value: Any) -> Any:
    return value


def _sized(*types: Type) -> list[Overload]:
    return [make("size", (kind,), INT, len) for kind in types for make in (function, method)]


OVERLOADS = [
    function("dyn", (var("A"),), DYN, _same),
    function("type", (var("A"),), type_of_type(var("A")), type_of),
    *_sized(STRING, BYTES, list_of(var("A")), map_of(var("A"), var("B"))),
    *(function(kind.kind, (kind,), kind, _same) for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES)),
    function("timestamp", (TIMESTAMP,), TIMESTAMP, _same),
    function("duration", (DURATION,), DURATION, _same),
    function("bool", (STRING,), BOOL, _text_to_bool),
    function("int", (UINT,), INT, _uint_to_int),
    function("int", (DOUBLE,), INT, _double_to_int),
    function("int", (STRING,), INT, _text_to_int),
    function("int", (TIMESTAMP,), INT, lambda value: value.nanos // 1_000_000_000),
    function("int", (DURATION,), INT, lambda value: whole_seconds(value.nanos)),
    function("uint", (INT,), UINT, _to_uint),
    function("uint", (DOUBLE,), UINT, _double_to_uint),
    function("uint", (STRING,), UINT, _text_to_uint),
    function("double", (INT,), DOUBLE, float),
    function("double", (UINT,), DOUBLE, float),
    function("double", (STRING,), DOUBLE, _text_to_double),
    function("string", (BOOL,), STRING, lambda value: "true" if value else "false"),
    function("string", (INT,), STRING, str),
    function("string", (UINT,), STRING, lambda value: str(int(value))),
    function("string", (DOUBLE,), STRING, double_to_text),
    function("string", (BYTES,), STRING, _bytes_to_text),
    function("string", (TIMESTAMP,), STRING, str),
    function("string", (DURATION,), STRING, str),
    function("bytes", (STRING,), BYTES, str.encode),
    function("timestamp", (STRING,), TIMESTAMP, Timestamp.parse),
    function("timestamp", (INT,), TIMESTAMP, lambda value: Timestamp(value * 1_000_000_000)),
    function("duration", (STRING,), DURATION, Duration.parse),
    function("duration", (INT,), DURATION, lambda value: Duration(value)),
]
