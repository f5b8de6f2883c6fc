"""Where two ladders differ, exactly: for each threshold the windows, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from policyengine.check.diff.model import Span, Witness
from policyengine.check.proofs.cells import Piecewise, UndecidedError, together
from policyengine.check.proofs.deciding import seen_outcome
from policyengine.check.proofs.formulas import Formulas
from policyengine.check.proofs.ladder import windows_of
from policyengine.check.proofs.numbers import Number
from policyengine.check.proofs.reading import read_table
from policyengine.kinds.ladder import TIERS
from policyengine.kinds.policy import Policy

VALUES = ("warn", "auto", "hard", "effective_window", "compact_max_output_tokens")
"""What a ladder says about a window."""


def domain(old: Policy, new: Policy) -> tuple[int, int]:
    """The windows over which two ladders are compared: all that either claims anything about."""
    (low, high), (start, end) = windows_of(old), windows_of(new)
    return min(low, start), max(high, end)


def spans(old: Policy, new: Policy) -> dict[str, tuple[Span, ...]]:
    """Where each threshold differs. Raises UndecidedError, UnreadableError."""
    low, high = domain(old, new)
    before, after = (Formulas(read_table(policy.table), low, high) for policy in (old, new))
    found = {}
    for name in VALUES:
        difference = together([after.named(name), before.named(name)], _less)
        found[name] = tuple(_spans(difference))
    return {name: parts for name, parts in found.items() if parts}


def renamed_branch(old: Policy, new: Policy) -> Witness | None:
    """A window at which another candidate decides a threshold of the same size. Raises UndecidedError."""
    low, high = domain(old, new)
    before, after = (Formulas(read_table(policy.table), low, high) for policy in (old, new))
    for tier in TIERS:
        other = together([before.named(f"{tier}_branch"), after.named(f"{tier}_branch")], lambda one, two: one != two)
        for window in other.where(bool).ends():
            if found := _differs(old, new, f"{tier}_branch", window):
                return found
    return None


def _less(one: Number, two: Number) -> Number:
    if not isinstance(one, Number) or not isinstance(two, Number):
        raise UndecidedError("a threshold that is no number")
    return one.plus(two, -1)


def _spans(difference: Piecewise) -> Iterator[Span]:
    """Stretches in which one side is above the other at every window, however many break points lie inside."""
    open_: list[tuple[int, Fraction]] = []
    for low, high, number in difference.pieces():
        if number.steps:
            raise UndecidedError("by how much rounded thresholds differ")
        for start, end in _without_root(low, high, number):
            if open_ and (start != open_[-1][0] + 1 or (number.at(start) < 0) != (open_[-1][1] < 0)):
                yield _span(open_)
                open_ = []
            open_ += [(start, number.at(start)), (end, number.at(end))]
    if open_:
        yield _span(open_)


def _without_root(low: int, high: int, number: Number) -> Iterator[tuple[int, int]]:
    if number.slope == 0:
        if number.base:
            yield low, high
        return
    root = -number.base / number.slope
    for start, end in ((low, min(high, math.ceil(root) - 1)), (max(low, math.floor(root) + 1), high)):
        if start <= end:
            yield start, end


def _span(points: list[tuple[int, Fraction]]) -> Span:
    values = [float(value) for _, value in points]
    return Span(points[0][0], points[-1][0], min(values), max(values), values[0], values[-1])


def witness(old: Policy, new: Policy, where: Mapping[str, tuple[Span, ...]]) -> Witness | None:
    """A window and a count on which both ladders decide otherwise, by the engine."""
    for name in ("auto", "hard", "warn", "effective_window", "compact_max_output_tokens"):
        windows = {window for part in where.get(name, ()) for window in _inside(part)}
        for window in sorted(windows, key=lambda window: -_relative(old, new, name, window)):
            if found := _differs(old, new, name, window):
                return found
    return None


def _inside(part: Span) -> tuple[int, ...]:
    """Windows of a span: its ends, its middle, and the middle of its orders of magnitude."""
    return part.low, math.isqrt(part.low * part.high), (part.low + part.high) // 2, part.high


def _relative(old: Policy, new: Policy, name: str, window: int) -> float:
    """By which share of the window a threshold moves."""
    before, after = (policy.outcome({"window": window, "tokens": 0})[name] or 0 for policy in (old, new))
    return float(abs(after - before) / window)


def _differs(old: Policy, new: Policy, name: str, window: int) -> Witness | None:
    at = [policy.outcome({"window": window, "tokens": 0})[name] for policy in (old, new)]
    if at[0] == at[1]:
        return None
    # Between the two thresholds one ladder has reached the tier and the other has not.
    input = {"window": window, "tokens": min(at) if name in TIERS else 0}
    before, after = (policy.decide(input) for policy in (old, new))
    return Witness(input, before.outcome, after.outcome, seen_outcome(before)[1], seen_outcome(after)[1])
