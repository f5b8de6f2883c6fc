"""All functions by name, and the call of one whose argument types are known only now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from policyengine.cel.errors import CelError, no_overload
from policyengine.cel.functions import WordMatcher
from policyengine.cel.library import conversions, engine, lists, maths, texts, times
from policyengine.cel.library.overloads import Overload
from policyengine.cel.values import kind_of

Functions = Mapping[tuple[str, bool], tuple[Overload, ...]]
"""Overloads by name and whether it is called as a method."""


def collect(overloads: Iterable[Overload]) -> Functions:
    """Group overloads by name."""
    found: dict[tuple[str, bool], tuple[Overload, ...]] = {}
    for overload in overloads:
        key = (overload.name, overload.method)
        found[key] = (*found.get(key, ()), overload)
    return found


STANDARD: Functions = collect(
    overload for family in (conversions, times, maths, texts, lists, engine) for overload in family.OVERLOADS
)


def call(functions: Functions, name: str, method: bool, args: list[Any]) -> Any:
    """Call the overload that fits the values. Raises CelError."""
    overloads = functions.get((name, method))
    if overloads is None:
        raise CelError(f"unbound function: {name}")
    kinds = tuple("words" if type(arg) is WordMatcher else kind_of(arg) for arg in args)
    for overload in overloads:
        if len(overload.params) == len(kinds) and overload.takes(kinds):
            return overload.run(*args)
    raise no_overload(f"{name}()")
