"""What compiled code calls. Anything unusual raises: the caller then evaluates again with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyengine.cel.errors import no_overload
from policyengine.cel.limits import MAX_INT, MIN_INT

SMALL_ARGUMENT = 4096
"""Size of a value that a call inside a comprehension takes without being charged for."""
SMALL_RESULT = 256
"""Size of a value that a step of a comprehension builds without being charged for."""


class Unusual(Exception):
    """Compiled code met something that only the interpreter may judge: a value of another type, a large one."""


def unusual() -> Any:
    """Raise `Unusual`, where only an expression can stand."""
    raise Unusual


def not_null(value: Any) -> Any:
    """The value, if it is not null."""
    if value is None:
        raise Unusual
    return value


def checked_string(value: Any) -> str:
    """The value, if it is a string."""
    if type(value) is str:
        return value
    raise Unusual


def checked_int(value: Any) -> int:
    """The value, if it is an int of 64 bits."""
    if type(value) is int and MIN_INT <= value <= MAX_INT:
        return value
    raise Unusual


def checked_double(value: Any) -> float:
    """The value as a double, if it is a number."""
    if type(value) is float:
        return value
    if type(value) is int and -(2**1023) < value < 2**1023:
        return float(value)
    raise Unusual


def checked_bool(value: Any) -> bool:
    """The value, if it is a bool."""
    if value is True or value is False:
        return bool(value)
    raise Unusual


def checked_dict(value: Any) -> dict[Any, Any]:
    """The value, if it is a dict."""
    if type(value) is dict:
        return value
    raise Unusual


def list_checker(item: Callable[[Any], Any] | None, max_items: int | None) -> Callable[[Any], list[Any]]:
    """A function giving a value back if it is a list of no more than so many items that all pass."""
    most = MAX_INT if max_items is None else max_items

    def checked_list(value: Any) -> list[Any]:
        if type(value) is not list or len(value) > most:
            raise Unusual
        return value if item is None else [item(part) for part in value]

    return checked_list


def or_null(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same check, letting null pass."""
    return lambda value: None if value is None else check(value)


def bounded(items: Any, most: int) -> Any:
    """A list or map to walk over, if it has no more than so many items. A map gives its keys."""
    if type(items) not in (list, dict) or len(items) > most:
        raise Unusual
    return items


def small(value: Any, most: int) -> Any:
    """The value, if it has a size and that is small, or has none."""
    if isinstance(value, (str, bytes, list, tuple, Mapping)) and len(value) > most:
        raise Unusual
    return value


def negated(value: Any) -> bool:
    """`!value`."""
    if value is True:
        return False
    if value is False:
        return True
    raise no_overload("!")


def only_one(hits: Sequence[Any]) -> bool:
    """Whether exactly one of some bools is true."""
    return hits.count(True) == 1
