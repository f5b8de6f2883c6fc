"""A smaller input that shows the same: short lists, small numbers, and what the schema's own example holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MOST_TRIES = 600
"""Inputs that are tried; what is found by then is small enough."""

Path = tuple[str | int, ...]


def shrunk(input: Mapping[str, Any], shows: Callable[[dict[str, Any]], bool], example: Any = None) -> dict[str, Any]:
    """The input, smaller as long as `shows` agrees."""
    best: dict[str, Any] = dict(input)
    left = _MOST_TRIES
    improved = True
    while improved and left > 0:
        improved = False
        for path in list(leaves(best)):
            for value in _simpler(path, at(best, path), example):
                left -= 1
                if left <= 0:
                    break
                tried = replaced(best, path, value)
                if shows(tried):
                    best, improved = tried, True
                    break
            if improved and isinstance(at(best, path), list):
                break  # paths inside the list are others now
    return best


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a value, lists before their items."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        yield path
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path


def at(value: Any, path: Path) -> Any:
    """What stands at a place; None where there is nothing."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy with one place replaced; a field that is not there is added."""
    if not path:
        return new
    step, *rest = path
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[step] = replaced(copy[step], tuple(rest), new) if rest else new
    return copy


def _simpler(path: Path, value: Any, example: Any) -> Iterator[Any]:
    if isinstance(value, list):
        if value:
            yield []
            yield value[: len(value) // 2]
            yield value[len(value) // 2 :]
            yield from ([*value[:index], *value[index + 1 :]] for index in range(min(len(value), 20)))
        return
    wanted = at(example, tuple(0 if isinstance(step, int) else step for step in path))
    if wanted is not None and type(wanted) is type(value):
        if wanted == value:
            return
        yield wanted
    if isinstance(value, int) and not isinstance(value, bool):
        for smaller in (0, 1, *_shorter(value)):
            if abs(smaller) < abs(value):
                yield smaller


def _shorter(value: int) -> Iterator[int]:
    """Powers of ten below it and the halves on the way to it."""
    power = 10
    while power < abs(value):
        yield power if value > 0 else -power
        power *= 10
    yield value // 2
