"""A measured value with its sample size, and confidence intervals of rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any

CONFIDENCE = 0.95
"""Probability that the interval of a rate holds the true rate."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric's value; None where nothing was measured.

    `n` is the sample size. A rate (a share of counted cases) has a confidence interval from `low` to `high`.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As gates take it and `--format json` prints it."""
        return {"value": self.value, "n": self.n, "low": self.low, "high": self.high}


def rate(cases: int, n: int) -> Measure:
    """`cases / n`, with Wilson's score interval."""
    if not n:
        return Measure(None, 0)
    low, high = wilson(cases, n)
    return Measure(cases / n, n, low, high)


def wilson(cases: int, n: int) -> tuple[float, float]:
    """Wilson's score interval (1927) of a rate: right also for few cases and for rates near 0 and 1."""
    share = cases / n
    square = _Z * _Z
    middle = share + square / (2 * n)
    half = _Z * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, (middle - half) / (1 + square / n)), min(1.0, (middle + half) / (1 + square / n))


def ratio(above: int, below: int, n: int) -> Measure:
    """A quotient of two sums over `n` cases: no rate, so without an interval."""
    return Measure(above / below if below else None, n)


def percentile(values: Iterable[float], percent: int) -> Measure:
    """The percentile (definition 7 of Hyndman and Fan: linear between neighbours), exact to the last digit."""
    ordered = sorted(values)
    if not ordered:
        return Measure(None, 0)
    below, hundredths = divmod(percent * (len(ordered) - 1), 100)
    found = Fraction(ordered[below])
    if hundredths:
        found += (Fraction(ordered[below + 1]) - found) * hundredths / 100
    return Measure(float(found), len(ordered))
