"""What a person or an agent states: checked once, where it comes in, and refused in one line.

What is allowed stands in the input schemas of the policies that decide on it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from policyengine.source.errors import InputError
from policyengine.source.schema import input_check, input_misfits, load_schema, validate_input

T = TypeVar("T")


def stated_tokens(tokens: int | None, name: str) -> int | None:
    """A window or an output limit, tokens; None where it is unknown, which 0 means too.

    `name` is what the person calls it. Raises `InputError` for what is no number of tokens.
    """
    if tokens is None:
        return None
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise InputError(f"{name} is a whole number of tokens, or None where it is unknown; {tokens!r} is neither")
    return tokens or None


def stated(value: T, name: str, schema: str, field: str | None = None) -> T:
    """An option that becomes a field (without `field`, the one of its own name) of the input `schema`.

    Raises `InputError` where that schema does not allow it.
    """
    part = _field(schema, field or name, name)
    if not input_check(part)({name: value}):
        _refuse(validate_input({name: value}, part))
    return value


def stated_input(value: Mapping[str, Any], name: str, schema: str) -> None:
    """Facts that are the whole input of a policy. Raises `InputError`, which holds none of them."""
    whole = load_schema(f"inputs/{schema}")
    if not isinstance(value, Mapping) or not input_check(whole)(dict(value)):
        problems = input_misfits(value, whole, name)
        _refuse([problem if problem.startswith(name) else f"{name}: {problem}" for problem in problems])


def stated_list(value: Sequence[Any], name: str, schema: str, field: str) -> None:
    """A list that becomes a field of the input `schema`, however long it is. Raises `InputError`, which holds none of
    what is in it."""
    part = _items(schema, field, name)
    if not input_check(part)({name: list(value)}):
        _refuse(input_misfits({name: list(value)}, part))


def stated_text(value: str, name: str, *, empty: bool = True) -> str:
    """A text. Raises `InputError` for anything else, and without `empty` for one with nothing in it."""
    if not isinstance(value, str) or not (empty or value.strip()):
        raise InputError(f"{name} is a text, not {'an empty one' if isinstance(value, str) else _class(value)}")
    return value


def stated_as(
    value: T,
    name: str,
    expected: str,
    fits: type | tuple[type, ...] | Callable[[Any], bool],
    *,
    optional: bool = False,
) -> T:
    """An object of one of these classes, or one that fits; with `optional` also None.

    Raises `InputError`, which says what was `expected`.
    """
    if optional and value is None:
        return value
    good = isinstance(value, fits) if isinstance(fits, type | tuple) else fits(value)
    if not good:
        raise InputError(f"{name} is {expected}, not {_class(value)}")
    return value


def has(*methods: str) -> Callable[[Any], bool]:
    """Whether an object has these methods: what a class of somebody else's needs."""
    return lambda value: not isinstance(value, type) and all(callable(getattr(value, one, None)) for one in methods)


def _class(value: object) -> str:
    """What a value is, without the value."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _refuse(problems: list[str]) -> None:
    if problems:
        raise InputError(problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""))


@lru_cache(maxsize=64)
def _field(schema: str, field: str, name: str) -> dict[str, Any]:
    """The schema of one field of an input, under the name that the option has."""
    whole = load_schema(f"inputs/{schema}")
    left = {key: value for key, value in whole.items() if key not in ("required", "properties", "examples")}
    return {**left, "properties": {name: whole["properties"][field]}}


@lru_cache(maxsize=8)
def _items(schema: str, field: str, name: str) -> dict[str, Any]:
    """The same for a list, without a bound on its length."""
    part = _field(schema, field, name)
    items = part["properties"][name]["items"]
    return {**part, "properties": {name: {"type": "array", "items": items}}}
