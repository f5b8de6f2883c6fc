"""The thresholds of a ladder over all its windows, found by asking the ladder itself.

Thresholds are made of straight pieces. Halving a range until both halves lie on one line finds every bend and every
step; within a piece a comparison of thresholds changes its answer once at most, so that its first and last window are
exact. Twists narrower than the first division of the range that leave its ends and middles on one line are missed; the
proofs of `policyengine verify` miss none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from policyengine.cel import CelError, compile_expression
from policyengine.kinds.policy import Policy
from policyengine.rules.exact import DerivedValues
from policyengine.rules.programs import Programs
from policyengine.source.counts import number

# Where a ladder states no windows: from one token to ten times the largest window on the market.
SMALLEST, LARGEST = 1, 10_000_000
_PARTS = 24
_TIERS = ("warn", "auto", "hard")


@dataclass(frozen=True, slots=True)
class Point:
    """A ladder at one window, in whole tokens; `cap` is the output cap of the compaction call."""

    window: int
    warn: int
    auto: int
    hard: int
    cap: int


Test = Callable[[Point], bool]


class Curve:
    """A ladder over its windows."""

    def __init__(self, policy: Policy, programs: Programs) -> None:
        self.policy = policy
        self.programs = programs
        stated = policy.spec.get("windows", {})
        self.first: int = stated.get("from", SMALLEST)
        self.last: int = max(self.first, stated.get("to", LARGEST))
        self._known: dict[int, Point | None] = {}
        self.points = self._pieces()

    def at(self, window: int) -> Point | None:
        """The ladder at a window; None where it fails to decide."""
        if window not in self._known:
            outcome = self.policy.outcome({"window": window, "tokens": 0}, check=False)
            values = [outcome.get(name) for name in (*_TIERS, "compact_max_output_tokens")]
            whole = [value for value in values if isinstance(value, int)]
            self._known[window] = Point(window, *whole) if len(whole) == len(values) else None
        return self._known[window]

    def accepted(self, first: Point, last: Point) -> bool:
        """Whether the policy states a property that fails at both windows and is accepted there."""
        ends = (first.window, last.window)
        for stated in self.policy.spec.get("properties", ()):
            domain = stated.get("accepted", {}).get("domain")
            if domain is None or "assert" not in stated:
                continue
            if all(self._value(domain, at) is True and self._value(stated["assert"], at) is False for at in ends):
                return True
        return False

    def _value(self, text: str, window: int) -> Any:
        """The value of an expression over the ladder at a window; None where it has none."""
        values = DerivedValues(self.programs.derived, {"window": window, "tokens": 0})
        try:
            return compile_expression(text, self.programs.environment).evaluate(values.input, values)
        except CelError:
            return None

    def exact(self, window: int) -> dict[str, Any]:
        """The thresholds before they are rounded to whole tokens."""
        values = DerivedValues(self.programs.derived, {"window": window, "tokens": 0})
        return {tier: values.get(tier) for tier in _TIERS}

    def where(self, test: Test) -> Iterator[tuple[Point, Point]]:
        """The ranges of windows, as first and last point, in which a test of linear comparisons holds."""
        start: Point | None = None
        end: Point | None = None
        for one, two in pairwise(self.points):
            if start is None and test(one):
                start = end = one
            if test(one) == test(two):
                if start is not None:
                    end = two
                continue
            low, high = one, two
            while high.window - low.window > 1:
                middle = self.at((low.window + high.window) // 2)
                if middle is None:
                    break
                low, high = (middle, high) if test(middle) == test(low) else (low, middle)
            if start is not None:
                yield start, low
                start = end = None
            else:
                start, end = high, two
        if start is not None and end is not None:
            yield start, end

    def _pieces(self) -> list[Point]:
        ratio = (self.last / self.first) ** (1 / _PARTS)
        marks = sorted({self.first, self.last, *(round(self.first * ratio**step) for step in range(1, _PARTS))})
        found: dict[int, Point] = {}
        if len(marks) == 1 and (only := self.at(self.first)) is not None:
            found[self.first] = only
        stack = [pair for pair in pairwise(marks) if pair[0] < pair[1]]
        while stack:
            low, high = stack.pop()
            one, two = self.at(low), self.at(high)
            for point in (one, two):
                if point is not None:
                    found[point.window] = point
            middle = (low + high) // 2
            if high - low > 1 and not _straight(one, self.at(middle), two):
                stack += [(low, middle), (middle, high)]
        return [found[window] for window in sorted(found)]


def _straight(one: Point | None, middle: Point | None, two: Point | None) -> bool:
    if one is None or middle is None or two is None:
        return one is middle is two
    share = (middle.window - one.window) / (two.window - one.window)
    for name in (*_TIERS, "cap"):
        first, last = getattr(one, name), getattr(two, name)
        # Rounding up to whole tokens moves each of the three points by less than one.
        if abs(getattr(middle, name) - (first + (last - first) * share)) > 1:
            return False
    return True


def windows(first: Point, last: Point, largest: int) -> str:
    """A range of windows in words."""
    if first.window == last.window:
        return f"for the window {number(first.window)}"
    if last.window >= largest:
        return f"for every window from {number(first.window)}"
    return f"for windows from {number(first.window)} to {number(last.window)}"
