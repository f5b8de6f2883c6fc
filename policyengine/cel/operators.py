"""Operators on values whose types are not known before: exactly what the specification says, error by error."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from policyengine.cel.errors import CelError, no_overload
from policyengine.cel.limits import (
    MAX_INT,
    MAX_LIST_ITEMS,
    MAX_STRING_CHARS,
    MAX_UINT,
    MAX_VALUE_DEPTH,
    MIN_INT,
)
from policyengine.cel.values import CelType, Duration, MixedMap, Optional, Timestamp, UInt, kind_of, without_subclass

NUMBERS = frozenset((int, UInt, float))
_PLAIN = frozenset((str, int, UInt, float, bool, bytes, type(None), Timestamp, Duration, CelType))
_ORDERED = frozenset((str, int, UInt, float, bool, bytes, Timestamp, Duration))


def as_int(value: int) -> int:
    """The value, if it fits an int. Raises CelError."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelError("integer overflow: 64 bits")


def as_uint(value: int) -> UInt:
    """The value, if it fits a uint. Raises CelError."""
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise CelError("unsigned integer overflow: 64 bits")


def truth(value: Any) -> bool:
    """The value, if it is a bool. Raises CelError."""
    if value is True or value is False:
        return bool(value)
    raise no_overload("a condition that is not a bool")


def negate(value: Any) -> Any:
    """`-value`."""
    kind = type(value)
    if kind is int:
        return as_int(-value)
    if kind is float:
        return -value
    raise no_overload("-")


def compare_numbers(left: Any, right: Any) -> int | None:
    """-1, 0 or 1 for numbers of any kinds; None when one is NaN.

    An int is compared with a double as a double, after the double's range was looked at; so the specification's cases.
    """
    if type(left) is float and type(right) is not float:
        order = compare_numbers(right, left)
        return None if order is None else -order
    if type(right) is float:
        if right != right or left != left:
            return None
        if type(left) is not float:
            low, high = (0.0, 2.0**64) if type(left) is UInt else (-(2.0**63), 2.0**63)
            if right < low:
                return 1
            if right > high:
                return -1
            left = float(left)
    return int(left > right) - int(left < right)


def equal(left: Any, right: Any, depth: int = 0) -> bool:
    """`left == right`: values of different types are unequal, numbers are compared across types."""
    kind, other = type(left), type(right)
    if kind is other and kind in _PLAIN:
        return bool(left == right)
    if kind in NUMBERS and other in NUMBERS:
        return compare_numbers(left, right) == 0
    if depth > MAX_VALUE_DEPTH:
        raise CelError("a value is nested too deeply to compare")
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(equal(one, two, depth + 1) for one, two in zip(left, right, strict=True))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        if len(left) != len(right):
            return False
        for key, value in left.items():
            found, twin = lookup(right, key)
            if not found or not equal(value, twin, depth + 1):
                return False
        return True
    if kind is Optional and other is Optional:
        return left.present == right.present and (not left.present or equal(left.value, right.value, depth + 1))
    plain, twin = without_subclass(left), without_subclass(right)
    if plain is not left or twin is not right:
        return equal(plain, twin, depth + 1)
    kind_of(left), kind_of(right)  # a foreign object is equal to nothing that a policy means: that is an error
    return False


def not_equal(left: Any, right: Any) -> bool:
    """`left != right`."""
    return not equal(left, right)


def _ordering(symbol: str, native: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def ordered(left: Any, right: Any) -> bool:
        kind, other = type(left), type(right)
        if kind is other:
            if kind in _ORDERED:
                return native(left, right)
        elif kind in NUMBERS and other in NUMBERS:
            order = compare_numbers(left, right)
            return order is not None and native(order, 0)
        raise no_overload(symbol)

    return ordered


less = _ordering("<", lambda left, right: left < right)
less_equal = _ordering("<=", lambda left, right: left <= right)
greater = _ordering(">", lambda left, right: left > right)
greater_equal = _ordering(">=", lambda left, right: left >= right)


def add(left: Any, right: Any) -> Any:
    """`left + right`."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind is int:
            return as_int(left + right)
        if kind is float:
            return left + right
        if kind is UInt:
            return as_uint(int(left) + int(right))
        if kind is str or kind is bytes:
            return joined(left, right)
        if kind is Duration:
            return Duration(left.nanos + right.nanos)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return concatenated(left, right)
    if (kind is Timestamp and other is Duration) or (kind is Duration and other is Timestamp):
        return Timestamp(left.nanos + right.nanos)
    raise no_overload("+")


def joined(left: Any, right: Any) -> Any:
    """Two strings or two bytes, one after the other, within the bound of growth."""
    if len(left) + len(right) > MAX_STRING_CHARS:
        raise CelError(f"a string would be longer than {MAX_STRING_CHARS} characters")
    return left + right


def concatenated(left: Any, right: Any) -> list[Any]:
    """Two lists, one after the other, within the bound of growth."""
    if len(left) + len(right) > MAX_LIST_ITEMS:
        raise CelError(f"a list would have more than {MAX_LIST_ITEMS} items")
    return [*left, *right]


def subtract(left: Any, right: Any) -> Any:
    """`left - right`."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind is int:
            return as_int(left - right)
        if kind is float:
            return left - right
        if kind is UInt:
            return as_uint(int(left) - int(right))
        if kind is Duration or kind is Timestamp:
            return Duration(left.nanos - right.nanos)
    elif kind is Timestamp and other is Duration:
        return Timestamp(left.nanos - right.nanos)
    raise no_overload("-")


def multiply(left: Any, right: Any) -> Any:
    """`left * right`."""
    kind = type(left)
    if kind is type(right):
        if kind is int:
            return as_int(left * right)
        if kind is float:
            return left * right
        if kind is UInt:
            return as_uint(int(left) * int(right))
    raise no_overload("*")


def divide(left: Any, right: Any) -> Any:
    """`left / right`; integers are cut towards zero."""
    kind = type(left)
    if kind is type(right):
        if kind is float:
            return divide_doubles(left, right)
        if kind is int or kind is UInt:
            if right == 0:
                raise CelError("division by zero")
            return as_int(_cut(left, right)) if kind is int else as_uint(_cut(int(left), int(right)))
    raise no_overload("/")


def divide_doubles(left: float, right: float) -> float:
    """IEEE division: by zero it gives an infinity or NaN."""
    if right:
        return left / right
    if not left or left != left or right != right:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _cut(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: Any, right: Any) -> Any:
    """`left % right`; the sign is that of `left`."""
    kind = type(left)
    if kind is type(right) and kind in (int, UInt):
        if right == 0:
            raise CelError("modulus by zero")
        result = abs(left) % abs(right)
        return as_int(-result if left < 0 else result) if kind is int else UInt(result)
    raise no_overload("%")


def lookup(mapping: Mapping[Any, Any], key: Any) -> tuple[bool, Any]:
    """Whether a map has a key, and its value. Numeric keys are equal across types; true is not 1."""
    key = without_subclass(key)
    kind = type(key)
    if kind is str:
        return (True, mapping[key]) if key in mapping else (False, None)
    if kind is bool or (kind in NUMBERS and (key == 0 or key == 1)):
        for own, value in mapping.items():  # Python takes true and 1 for the same key
            if own == key and (type(own) is bool) == (kind is bool):
                return True, value
        return False, None
    if kind in NUMBERS:
        return (True, mapping[key]) if key in mapping else (False, None)
    return False, None


def contains(item: Any, container: Any) -> bool:
    """`item in container`."""
    if isinstance(container, (list, tuple)):
        return any(equal(item, other) for other in container)
    if isinstance(container, Mapping):
        return lookup(container, item)[0]
    raise no_overload("in")


def index(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if type(container) is Optional:
        return Optional(index(container.value, key), True) if container.present else container
    key = without_subclass(key)
    if isinstance(container, (list, tuple)):
        if type(key) is float and key == key and abs(key) < 2**53 and key == int(key):
            key = int(key)
        if type(key) is not int and type(key) is not UInt:
            raise CelError("invalid index: a list takes an int")
        if 0 <= key < len(container):
            return container[key]
        raise CelError("index out of range")
    if isinstance(container, Mapping):
        if type(key) not in (str, bool, int, UInt, float):
            raise CelError("no such key: keys are strings, ints, uints or bools")
        found, value = lookup(container, key)
        if found:
            return value
        raise CelError("no such key")
    raise no_overload("an index into a value that is neither list nor map")


def field(value: Any, name: str) -> Any:
    """`value.name` on a map."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        raise CelError(f"no such key: {name!r}")
    if type(value) is Optional:
        if not value.present:
            return value
        found = isinstance(value.value, Mapping) and name in value.value
        return Optional(value.value[name], True) if found else Optional()
    raise CelError(f"field {name!r} of a value that has no fields")


def has_field(value: Any, name: str) -> bool:
    """`has(value.name)` on a map."""
    if isinstance(value, Mapping):
        return name in value
    if type(value) is Optional:
        return value.present and has_field(value.value, name)
    raise CelError(f"field {name!r} of a value that has no fields")


def make_map(entries: list[tuple[Any, Any]]) -> Mapping[Any, Any]:
    """A map from its entries, in order. Raises CelError for a repeated key or one of a type that keys cannot have."""
    result: dict[Any, Any] = {}
    for key, value in entries:
        if type(key) not in (str, bool, int, UInt):
            raise CelError("unsupported key type: keys are strings, ints, uints or bools")
        result[key] = value
    if len(result) == len(entries):
        return result
    mixed = MixedMap(entries)
    if len(mixed) != len(entries):
        raise CelError("repeated key in a map")
    return mixed


def weight(value: Any, enough: int) -> int:
    """Steps that walking over a value takes: its items, all the way down; a text counts by the 64 characters.

    The counting stops once it is past `enough`: one list may hold another many times over.
    """
    if type(value) in (str, bytes):
        return len(value) >> 6
    if not isinstance(value, (list, tuple, Mapping)):
        return 0
    total, stack = 0, [value]
    while stack and total <= enough:
        inner = stack.pop()
        total += len(inner) + 1
        for item in inner.values() if isinstance(inner, Mapping) else inner:
            if isinstance(item, (list, tuple, Mapping)):
                stack.append(item)
            elif type(item) in (str, bytes):
                total += len(item) >> 6
    return total


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": remainder,
    "in": contains,
}
