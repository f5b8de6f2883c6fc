"""The operators, as overloads, for the checker."""

from __future__ import annotations

from policyengine.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    var,
)

Signature = tuple[tuple[Type, ...], Type]
_A, _B = var("A"), var("B")
_NUMBERS = (INT, UINT, DOUBLE)
_ORDERED = (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)
_order: list[Signature] = [
    *(((kind, kind), BOOL) for kind in _ORDERED),
    # the specification orders numbers across types, while it compares for equality only within one
    *(((one, two), BOOL) for one in _NUMBERS for two in _NUMBERS if one != two),
]


def _same(*kinds: Type) -> list[Signature]:
    return [((kind, kind), kind) for kind in kinds]


SIGNATURES: dict[str, list[Signature]] = {
    "==": [((_A, _A), BOOL)],
    "!=": [((_A, _A), BOOL)],
    "<": _order,
    "<=": _order,
    ">": _order,
    ">=": _order,
    "in": [((_A, list_of(_A)), BOOL), ((_A, map_of(_A, _B)), BOOL)],
    "+": [
        *_same(INT, UINT, DOUBLE, STRING, BYTES, list_of(_A), DURATION),
        ((TIMESTAMP, DURATION), TIMESTAMP),
        ((DURATION, TIMESTAMP), TIMESTAMP),
    ],
    "-": [
        *_same(INT, UINT, DOUBLE, DURATION),
        ((TIMESTAMP, TIMESTAMP), DURATION),
        ((TIMESTAMP, DURATION), TIMESTAMP),
    ],
    "*": _same(*_NUMBERS),
    "/": _same(*_NUMBERS),
    "%": _same(INT, UINT),
    "[]": [((list_of(_A), INT), _A), ((map_of(_A, _B), _A), _B)],
    "!_": [((BOOL,), BOOL)],
    "-_": [((INT,), INT), ((DOUBLE,), DOUBLE)],
    "?:": [((BOOL, _A, _A), _A)],
}
"""Operands and result, in the order in which they are tried."""
