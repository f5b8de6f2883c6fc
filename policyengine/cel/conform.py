"""Whether a value of the input fits its declared type: the guard between the outside and typed code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_INT, MIN_INT
from policyengine.cel.types import Type
from policyengine.cel.values import kind_of


def conform(value: Any, wanted: Type, name: str) -> Any:
    """The value as the declared type has it: a number's int becomes a double, nothing else changes.

    Lists are looked at item by item; objects and maps are not, since each field is looked at when it is read. Raises
    CelError naming `name`, never the value.
    """
    kind = wanted.kind
    if value is None:
        if wanted.nullable or kind in ("null", "dyn", "var", "error"):
            return None
        raise _misfit(value, wanted, name)
    check = _CHECKS.get(kind)
    if check is not None:
        return check(value, wanted, name)
    return value


def _misfit(value: Any, wanted: Type, name: str) -> CelError:
    try:
        seen = kind_of(value)
    except CelError:
        seen = "something else"
    return CelError(f"{name} is declared {wanted}, the input has {seen}")


def _string(value: Any, wanted: Type, name: str) -> str:
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise _misfit(value, wanted, name)


_EXACT = 2**53
"""Up to here every whole number is its own double."""


def _int(value: Any, wanted: Type, name: str) -> int:
    if type(value) is float and value.is_integer() and abs(value) <= _EXACT:
        # JSON knows one kind of number, and its schemas call 200000.0 an integer.
        return int(value)
    if type(value) is not int:
        raise _misfit(value, wanted, name)
    if not MIN_INT <= value <= MAX_INT:
        raise CelError(f"{name} is out of range of int: 64 bits")
    return value


def _double(value: Any, wanted: Type, name: str) -> float:
    if type(value) is float:
        return value
    if type(value) is int and -(2**1023) < value < 2**1023:
        return float(value)
    raise _misfit(value, wanted, name)


def _bool(value: Any, wanted: Type, name: str) -> bool:
    if value is True or value is False:
        return bool(value)
    raise _misfit(value, wanted, name)


def _null(value: Any, wanted: Type, name: str) -> None:
    raise _misfit(value, wanted, name)


def _list(value: Any, wanted: Type, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise _misfit(value, wanted, name)
    if wanted.max_items is not None and len(value) > wanted.max_items:
        raise CelError(f"{name} has more than {wanted.max_items} items")
    item = wanted.params[0]
    if item.kind in ("dyn", "object", "map", "var"):
        return value
    return [conform(part, item, f"{name}[]") for part in value]


def _mapping(value: Any, wanted: Type, name: str) -> Any:
    if isinstance(value, Mapping):
        return value
    raise _misfit(value, wanted, name)


_CHECKS = {
    "string": _string,
    "int": _int,
    "double": _double,
    "bool": _bool,
    "null": _null,
    "list": _list,
    "map": _mapping,
    "object": _mapping,
}
