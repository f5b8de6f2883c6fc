"""The math extension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from policyengine.cel import operators
from policyengine.cel.errors import CelError, no_overload
from policyengine.cel.library.overloads import Overload, function
from policyengine.cel.limits import MAX_UINT
from policyengine.cel.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from policyengine.cel.values import UInt


def _best(better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def pick(*values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = tuple(values[0])
        if not values:
            raise CelError("an empty list has no least or greatest")
        if any(type(value) not in operators.NUMBERS for value in values):
            raise no_overload("math.greatest and math.least take numbers")
        best = values[0]
        for value in values[1:]:
            if better(value, best):
                best = value
        return best

    return pick


_greatest, _least = _best(operators.greater), _best(operators.less)


def _away_from_zero(value: float) -> float:
    if not math.isfinite(value):
        return value
    cut = float(math.trunc(value))
    return cut + math.copysign(1.0, value) if abs(value - cut) >= 0.5 else cut


def _whole(cut: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(cut(value)) if math.isfinite(value) else value


def _sign_of_double(value: float) -> float:
    return value if value != value else float((value > 0) - (value < 0))


def _square_root(value: Any) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _signed(value: int) -> int:
    value &= MAX_UINT
    return value - 2**64 if value >= 2**63 else value


def _amount(by: int) -> int:
    if by < 0:
        raise CelError("negative shift")
    return by


def _left_int(value: int, by: int) -> int:
    return 0 if _amount(by) > 63 else _signed(value << by)


def _left_uint(value: int, by: int) -> UInt:
    return UInt(0 if _amount(by) > 63 else (int(value) << by) & MAX_UINT)


def _right_int(value: int, by: int) -> int:
    return 0 if _amount(by) > 63 else _signed((value & MAX_UINT) >> by)


def _right_uint(value: int, by: int) -> UInt:
    return UInt(0 if _amount(by) > 63 else int(value) >> by)


def _extreme(name: str, run: Callable[..., Any]) -> list[Overload]:
    numbers = (INT, UINT, DOUBLE)
    found: list[Overload] = []
    for kind in numbers:
        found.append(function(name, (kind,), kind, run))
        found.append(function(name, (list_of(kind),), kind, run))
        for other in numbers:
            found.append(function(name, (kind, other), kind if kind == other else DYN, run))
    found.append(function(name, (list_of(DYN),), DYN, run))
    return found


def _bits(name: str, run: Callable[[int, int], int]) -> list[Overload]:
    return [
        function(name, (INT, INT), INT, run),
        function(name, (UINT, UINT), UINT, lambda left, right: UInt(run(int(left), int(right)))),
    ]


def _each(name: str, run: dict[Type, Callable[..., Any]]) -> list[Overload]:
    return [function(name, (kind,), kind, one) for kind, one in run.items()]


OVERLOADS = [
    *_extreme("math.greatest", _greatest),
    *_extreme("math.least", _least),
    function("math.ceil", (DOUBLE,), DOUBLE, _whole(math.ceil)),
    function("math.floor", (DOUBLE,), DOUBLE, _whole(math.floor)),
    function("math.trunc", (DOUBLE,), DOUBLE, _whole(math.trunc)),
    function("math.round", (DOUBLE,), DOUBLE, _away_from_zero),
    *_each("math.abs", {INT: lambda value: operators.as_int(abs(value)), UINT: lambda value: value, DOUBLE: abs}),
    *_each(
        "math.sign",
        {
            INT: lambda value: (value > 0) - (value < 0),
            UINT: lambda value: UInt(value > 0),
            DOUBLE: _sign_of_double,
        },
    ),
    *(function("math.sqrt", (kind,), DOUBLE, _square_root) for kind in (DOUBLE, INT, UINT)),
    function("math.isNaN", (DOUBLE,), BOOL, math.isnan),
    function("math.isInf", (DOUBLE,), BOOL, math.isinf),
    function("math.isFinite", (DOUBLE,), BOOL, math.isfinite),
    *_bits("math.bitAnd", lambda left, right: left & right),
    *_bits("math.bitOr", lambda left, right: left | right),
    *_bits("math.bitXor", lambda left, right: left ^ right),
    *_each("math.bitNot", {INT: lambda value: ~value, UINT: lambda value: UInt(int(value) ^ MAX_UINT)}),
    function("math.bitShiftLeft", (INT, INT), INT, _left_int),
    function("math.bitShiftLeft", (UINT, INT), UINT, _left_uint),
    function("math.bitShiftRight", (INT, INT), INT, _right_int),
    function("math.bitShiftRight", (UINT, INT), UINT, _right_uint),
]
