"""Exact numbers over one variable: a line with rational coefficients, and roundings of lines.

A decimal in a policy means what is written: 0.7 is seven tenths, not the nearest binary fraction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType


def exact(value: float | int) -> Fraction:
    """The decimal that a person wrote for a number: its shortest decimal form, exactly."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _away(value: Fraction) -> int:
    """The nearest whole number; halves go away from zero."""
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


_ROUND: Mapping[str, Callable[[Fraction], int]] = MappingProxyType(
    {"ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "round": _away}
)
_SLACK: Mapping[str, tuple[Fraction, Fraction]] = MappingProxyType(
    {
        "ceil": (Fraction(0), Fraction(1)),
        "floor": (Fraction(-1), Fraction(0)),
        "trunc": (Fraction(-1), Fraction(1)),
        "round": (Fraction(-1, 2), Fraction(1, 2)),
    }
)
"""How far below and above its argument a rounding can lie."""


@dataclass(frozen=True)
class Number:
    """`slope * window + base`, plus multiples of roundings of other such numbers."""

    slope: Fraction = Fraction(0)
    base: Fraction = Fraction(0)
    steps: tuple[tuple[Rounding, Fraction], ...] = ()

    @classmethod
    def constant(cls, value: float | int | Fraction) -> Number:
        """The same number for every window."""
        return cls(base=value if isinstance(value, Fraction) else exact(value))

    @property
    def fixed(self) -> bool:
        """Whether it is the same for every window."""
        return self.slope == 0 and not self.steps

    def at(self, window: Fraction | int) -> Fraction:
        """Its value."""
        value = self.slope * window + self.base
        for step, times in self.steps:
            value += times * step.at(window)
        return value

    def plus(self, other: Number, times: Fraction | int = 1) -> Number:
        """`self + times * other`."""
        steps: dict[Rounding, Fraction] = dict(self.steps)
        for step, count in other.steps:
            steps[step] = steps.get(step, Fraction(0)) + times * count
        kept = tuple((step, count) for step, count in steps.items() if count)
        return Number(self.slope + times * other.slope, self.base + times * other.base, kept)

    def times(self, factor: Fraction) -> Number:
        """`factor * self`."""
        return Number().plus(self, factor)

    def rounded(self, mode: str) -> Number:
        """`math.ceil(self)` and so on; `mode` is ceil, floor, trunc or round."""
        if self.fixed:
            return Number.constant(Fraction(_ROUND[mode](self.base)))
        return Number(steps=((Rounding(mode, self), Fraction(1)),))

    def bounds(self) -> tuple[Number, Number]:
        """Lines between which it lies; both are itself where nothing is rounded."""
        low = high = Number(self.slope, self.base)
        for step, count in self.steps:
            below, above = step.bounds()
            if count < 0:
                below, above = above, below
            low, high = low.plus(below, count), high.plus(above, count)
        return low, high

    def period(self) -> int:
        """After how many windows the roundings repeat (beside their own slope)."""
        found = 1
        for step, _ in self.steps:
            found = math.lcm(found, step.of.slope.denominator, step.of.period())
        return found


@dataclass(frozen=True)
class Rounding:
    """A number, rounded."""

    mode: str
    of: Number

    def at(self, window: Fraction | int) -> int:
        """Its value."""
        return _ROUND[self.mode](self.of.at(window))

    def bounds(self) -> tuple[Number, Number]:
        """Lines between which it lies."""
        low, high = self.of.bounds()
        below, above = _SLACK[self.mode]
        return low.plus(Number(base=below)), high.plus(Number(base=above))
