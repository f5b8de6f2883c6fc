"""The lists and sets extensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policyengine.cel import operators
from policyengine.cel.errors import CelError, no_overload
from policyengine.cel.library.overloads import Overload, function, method
from policyengine.cel.limits import MAX_LIST_ITEMS, MAX_VALUE_DEPTH, RUN_BUDGET
from policyengine.cel.types import BOOL, DYN, INT, abstract, list_of, var
from policyengine.cel.values import Duration, Optional, Timestamp, UInt, kind_of

_ITEMS = list_of(var("A"))
_MAYBE = abstract("optional_type", var("A"))
_SORTABLE = frozenset((int, UInt, float, str, bool, bytes, Timestamp, Duration))


def _bounded(count: int) -> None:
    if count > MAX_LIST_ITEMS:
        raise CelError(f"a list would have more than {MAX_LIST_ITEMS} items")


def _range(count: int) -> list[int]:
    _bounded(count)
    return list(range(count))


def _slice(items: Sequence[Any], start: int, end: int) -> list[Any]:
    if not 0 <= start <= end <= len(items):
        raise CelError("invalid range of a slice")
    return list(items[start:end])


def _flatten(items: Sequence[Any], depth: int = 1) -> list[Any]:
    if not 0 <= depth <= MAX_VALUE_DEPTH:
        raise CelError(f"flatten() takes a depth from 0 to {MAX_VALUE_DEPTH}")
    flat = list(items)
    for _ in range(depth):
        if not any(isinstance(item, (list, tuple)) for item in flat):
            break
        _bounded(sum(len(item) if isinstance(item, (list, tuple)) else 1 for item in flat))
        flat = [part for item in flat for part in (item if isinstance(item, (list, tuple)) else (item,))]
    return flat


def _distinct(items: Sequence[Any]) -> list[Any]:
    """Keep the first of equal items. Hashing finds candidates, CEL's equality decides (1 is 1.0, but not true)."""
    seen: dict[Any, list[Any]] = {}
    kept: list[Any] = []
    steps = 0
    for item in items:
        kind = type(item)
        key = item if kind in _SORTABLE and kind is not bool else (kind is bool, kind_of(item), str(item)[:0])
        candidates = seen.setdefault(key, [])
        steps += len(candidates) + 1
        if steps > RUN_BUDGET:
            raise CelError("distinct() took too many steps")
        if not any(operators.equal(item, other) for other in candidates):
            candidates.append(item)
            kept.append(item)
    return kept


def sorted_by(items: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
    """The items in the order of their keys. Raises CelError when the keys cannot be ordered."""
    kinds = {type(key) for key in keys}
    if not kinds <= _SORTABLE or (len(kinds) > 1 and not kinds <= operators.NUMBERS):
        raise no_overload("sort() takes items of one type that has an order")
    order = sorted(range(len(keys)), key=lambda at: keys[at])
    return [items[at] for at in order]


def _contains(items: Sequence[Any], parts: Sequence[Any]) -> bool:
    _spend(items, parts)
    return all(operators.contains(part, items) for part in parts)


def _equivalent(items: Sequence[Any], others: Sequence[Any]) -> bool:
    return _contains(items, others) and _contains(others, items)


def _intersects(items: Sequence[Any], others: Sequence[Any]) -> bool:
    _spend(items, others)
    return any(operators.contains(other, items) for other in others)


def _spend(items: Sequence[Any], others: Sequence[Any]) -> None:
    if len(items) * len(others) > RUN_BUDGET:
        raise CelError("a comparison of sets would take too many steps")


def _value(maybe: Optional) -> Any:
    if not maybe.present:
        raise CelError("optional.none() has no value")
    return maybe.value


def _first(items: Sequence[Any]) -> Optional:
    return Optional(items[0], True) if items else Optional()


def _last(items: Sequence[Any]) -> Optional:
    return Optional(items[-1], True) if items else Optional()


def _non_zero(value: Any) -> Optional:
    empty = value is None or value is False or (type(value) is not bool and not value)
    return Optional() if empty else Optional(value, True)


OVERLOADS: list[Overload] = [
    function("lists.range", (INT,), list_of(INT), _range),
    method("slice", (_ITEMS, INT, INT), _ITEMS, _slice),
    method("flatten", (list_of(_ITEMS),), _ITEMS, _flatten),
    method("flatten", (list_of(DYN),), list_of(DYN), _flatten),
    method("flatten", (list_of(DYN), INT), list_of(DYN), _flatten),
    method("distinct", (_ITEMS,), _ITEMS, _distinct),
    method("reverse", (_ITEMS,), _ITEMS, lambda items: list(items[::-1])),
    method("sort", (_ITEMS,), _ITEMS, lambda items: sorted_by(items, items)),
    method("first", (_ITEMS,), _MAYBE, _first),
    method("last", (_ITEMS,), _MAYBE, _last),
    function("sets.contains", (_ITEMS, _ITEMS), BOOL, _contains),
    function("sets.equivalent", (_ITEMS, _ITEMS), BOOL, _equivalent),
    function("sets.intersects", (_ITEMS, _ITEMS), BOOL, _intersects),
    function("optional.of", (var("A"),), _MAYBE, lambda value: Optional(value, True)),
    function("optional.ofNonZeroValue", (var("A"),), _MAYBE, _non_zero),
    function("optional.none", (), _MAYBE, Optional),
    method("hasValue", (_MAYBE,), BOOL, lambda maybe: maybe.present),
    method("value", (_MAYBE,), var("A"), _value),
    method("or", (_MAYBE, _MAYBE), _MAYBE, lambda maybe, other: maybe if maybe.present else other),
    method("orValue", (_MAYBE, var("A")), var("A"), lambda maybe, other: maybe.value if maybe.present else other),
]
