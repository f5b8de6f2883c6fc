"""The values that a term of a condition can take, cut into cells in which every comparison has one answer.

`tokens < 10 || tokens >= 20` cuts whole numbers into below 10, 10 to 19, 20 and above. Looking at one value of each
cell is as good as looking at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

NOTHING = object()
"""Stands for null, and for anything that no comparison holds of."""

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@dataclass(frozen=True, slots=True)
class Domain:
    """What a term may be: its CEL type, the values or bounds that its schema gives it."""

    kind: str
    nullable: bool = False
    values: tuple[Any, ...] | None = None
    low: float | int | None = None
    high: float | int | None = None


def cells(domain: Domain, literals: Iterable[Any]) -> list[Any]:
    """One value for every cell that the literals cut the domain into."""
    found: list[Any]
    if domain.kind == "bool":
        found = [True, False]
    elif domain.values is not None:
        found = list(domain.values)
    elif domain.kind == "string":
        known = sorted({value for value in literals if isinstance(value, str)})
        found = [*known, _other(known)]
    else:
        found = _numbers(domain, literals)
    # A computed double may be NaN, of which, like of null, no comparison holds.
    if domain.nullable or domain.kind == "double":
        found.append(NOTHING)
    return found


def holds(operator: str, value: Any, literal: Any) -> bool:
    """Whether a comparison holds for a value of a cell."""
    if literal is None:
        return (value is NOTHING) is (operator == "==")
    if value is NOTHING:
        return operator == "!="
    return OPERATORS[operator](value, literal)


def _other(known: list[str]) -> str:
    name = "other"
    while name in known:
        name += "_"
    return name


def _numbers(domain: Domain, literals: Iterable[Any]) -> list[Any]:
    cuts = sorted({value for value in literals if isinstance(value, int | float) and not isinstance(value, bool)})
    whole = domain.kind in ("int", "uint")
    bounds = [bound for bound in (domain.low, domain.high) if bound is not None]
    candidates: list[float | int] = [0, *bounds, *(math.ceil(bound) for bound in bounds)]
    for cut in cuts:
        if whole:
            candidates += [math.floor(cut) - 1, math.floor(cut), math.ceil(cut), math.ceil(cut) + 1]
        else:
            exact = float(cut)
            candidates += [math.nextafter(exact, -math.inf), exact, math.nextafter(exact, math.inf)]
    candidates = [int(value) if whole else float(value) for value in candidates]
    low = domain.low if domain.low is not None else -math.inf
    high = domain.high if domain.high is not None else math.inf
    return sorted({value for value in candidates if low <= value <= high})
