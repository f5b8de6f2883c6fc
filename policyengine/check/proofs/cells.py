"""Functions of the window, cell by cell: single points and the open stretches between them.

Between two break points a function has one form; at a break point it may have another. Break points are rational and
exact, so that a jump between two windows is seen where it is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from policyengine.check.proofs.numbers import Number
from policyengine.check.proofs.ranges import Ranges

MOST_SINGLE = 200_000
"""Windows that are looked at one by one where roundings leave a comparison open."""


class UndecidedError(Exception):
    """Something lies outside what can be decided; `str()` says what, for a person."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One point (`low == high`), or everything between two points without them."""

    low: Fraction
    high: Fraction

    @property
    def point(self) -> bool:
        """Whether it is a single point."""
        return self.low == self.high

    @property
    def inside(self) -> Fraction:
        """A point of the cell."""
        return (self.low + self.high) / 2

    def windows(self) -> tuple[int, int]:
        """The first and the last whole number in it; the first is the larger one where there is none."""
        if self.point:
            return math.ceil(self.low), math.floor(self.low)
        return math.floor(self.low) + 1, math.ceil(self.high) - 1


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A value for every window: `cells` cover the domain in order, without gaps."""

    cells: tuple[tuple[Cell, Any], ...]

    @classmethod
    def constant(cls, low: int, high: int, value: Any) -> Piecewise:
        """The same value (or the same form) on the whole of `low` to `high`."""
        return cls.of(_cells([Fraction(low), Fraction(high)]), lambda _: value)

    @classmethod
    def of(cls, cells: Iterable[Cell], value: Callable[[Cell], Any]) -> Piecewise:
        """From cells in order; break points at which nothing changes are left out."""
        kept: list[tuple[Cell, Any]] = []
        for cell in cells:
            kept.append((cell, value(cell)))
            if len(kept) > 3:
                (before, first), (at, second), (after, third) = kept[-3:]
                if at.point and _same(first, second) and _same(second, third):
                    kept[-3:] = [(Cell(before.low, after.high), first)]
        return cls(tuple(kept))

    def points(self) -> list[Fraction]:
        """The break points, the ends of the domain included."""
        return [cell.low for cell, _ in self.cells if cell.point]

    def at(self, window: Fraction | int) -> Any:
        """The value at one window: for numbers the number itself, not its form."""
        for cell, value in self.cells:
            if cell.low < window < cell.high or cell.low == window == cell.high:
                return value.at(window) if isinstance(value, Number) else value
        raise UndecidedError(f"{window} lies outside the windows that were looked at")

    def where(self, test: Callable[[Any], bool]) -> Ranges:
        """The whole windows at which the value passes a test."""
        return Ranges.of(cell.windows() for cell, value in self.cells if test(value))

    def pieces(self) -> Iterator[tuple[int, int, Any]]:
        """First window, last window and form of every cell that holds a whole window."""
        for cell, value in self.cells:
            low, high = cell.windows()
            if low <= high:
                yield low, high, value


def _same(one: Any, two: Any) -> bool:
    return type(one) is type(two) and bool(one == two)


def _cells(points: Sequence[Fraction]) -> Iterator[Cell]:
    for index, point in enumerate(points):
        if index:
            yield Cell(points[index - 1], point)
        yield Cell(point, point)


def together(parts: Sequence[Piecewise], join: Callable[..., Any]) -> Piecewise:
    """`join` of several functions, cell by cell."""
    points = sorted({point for part in parts for point in part.points()})
    at = [0] * len(parts)

    def value(cell: Cell) -> Any:
        found = []
        for index, part in enumerate(parts):
            while not _covers(part.cells[at[index]][0], cell):
                at[index] += 1
            found.append(part.cells[at[index]][1])
        return join(*found)

    return Piecewise.of(_cells(points), value)


def _covers(outer: Cell, inner: Cell) -> bool:
    if inner.point and not outer.point:
        return outer.low < inner.low < outer.high
    return outer.low <= inner.low and inner.high <= outer.high


def sign(function: Piecewise) -> Piecewise:
    """-1, 0 or 1 for every window. Raises UndecidedError where roundings leave too many windows open."""
    signs = {part: found for cell, number in function.cells for part, found in _signs(cell, number)}
    return Piecewise.of(signs, lambda part: signs[part])


def _signs(cell: Cell, number: Number) -> Iterator[tuple[Cell, int]]:
    if cell.point:
        yield cell, _sign(number.at(cell.low))
    elif number.steps:
        yield from _stepped(cell, number)
    else:
        root = -number.base / number.slope if number.slope else None
        if root is not None and cell.low < root < cell.high:
            yield Cell(cell.low, root), _sign(number.at((cell.low + root) / 2))
            yield Cell(root, root), 0
            yield Cell(root, cell.high), _sign(number.at((root + cell.high) / 2))
        else:
            yield cell, _sign(number.at(cell.inside))


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


def _stepped(cell: Cell, number: Number) -> Iterator[tuple[Cell, int]]:
    """Signs at whole windows only: a rounding between two of them has no meaning for a ladder."""
    first, last = cell.windows()
    if first > last:
        yield cell, _sign(number.at(cell.inside))
        return
    runs: list[tuple[int, int]] = []  # first window of a run, its sign
    for start, end, known in _stretches(first, last, *number.bounds()):
        if known is not None:
            runs.append((start, known))
            continue
        for window, found in _one_by_one(start, end, number):
            if not runs or runs[-1][1] != found:
                runs.append((window, found))
    low = cell.low
    for index, (_, found) in enumerate(runs):
        high = runs[index + 1][0] - Fraction(1, 2) if index + 1 < len(runs) else cell.high
        yield Cell(low, high), found
        if index + 1 < len(runs):
            yield Cell(high, high), found
        low = high


def _stretches(first: int, last: int, low: Number, high: Number) -> Iterator[tuple[int, int, int | None]]:
    """Stretches of windows with the sign that two bounds give, None where they leave it open."""
    cuts = {first, last + 1}
    for line in (low, high):
        if line.slope:
            root = -line.base / line.slope
            cuts.update(cut for cut in (math.floor(root), math.floor(root) + 1) if first < cut <= last)
    ordered = sorted(cuts)
    for start, stop in itertools.pairwise(ordered):
        ends = (start, stop - 1)
        if all(low.at(end) > 0 for end in ends):
            yield start, stop - 1, 1
        elif all(high.at(end) < 0 for end in ends):
            yield start, stop - 1, -1
        else:
            yield start, stop - 1, None


def _one_by_one(start: int, end: int, number: Number) -> Iterator[tuple[int, int]]:
    if end - start < MOST_SINGLE:
        yield from ((window, _sign(number.at(window))) for window in range(start, end + 1))
        return
    low, high = number.bounds()
    period = number.period()
    if low.slope == high.slope == 0 and period <= MOST_SINGLE:
        signs = {_sign(number.at(window)) for window in range(start, start + period)}
        if len(signs) == 1:
            yield start, signs.pop()
            return
    raise UndecidedError(f"rounding leaves a comparison open at {end - start + 1} windows from {start} on")
