"""Whether the engine's binary numbers give the whole tokens that the exact formulas give, for every window.

Away from break points a bound on the rounding error decides: thresholds are fractions with a small denominator, so
they are either whole or further from a whole number than the error. At the windows beside each break point, where
rounding could take the other branch, the engine itself is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from policyengine.cel.syntax import Binary, Call, Ident, ListLit, Literal, Logic, Node, Ternary, Unary
from policyengine.check.proofs.cells import Piecewise, UndecidedError, together
from policyengine.check.proofs.formulas import Formulas
from policyengine.check.proofs.numbers import Number, exact
from policyengine.check.proofs.ranges import Ranges
from policyengine.check.proofs.reading import Read, tree
from policyengine.kinds.ladder import TIERS
from policyengine.kinds.policy import Policy

_HALF_ULP = Fraction(1, 2**53)
_GRAIN = Fraction(4, 10_000_000)
"""The engine takes off noise below half a millionth before it rounds up; errors have to stay below that."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A window at which engine and formulas differ, or (`open`) why that is not known; neither where they agree."""

    window: int | None = None
    seen: Mapping[str, Any] = field(default_factory=dict)
    open: str = ""


def disagreement(policy: Policy, read: Read, formulas: Formulas, domain: Ranges) -> Disagreement:
    """The first disagreement over a domain."""
    exactly = {tier: together([formulas.named(tier)], _whole_tokens) for tier in TIERS}
    errors = _Errors(read, formulas)
    bound = max(errors.of(Ident(0, 0, tier)) for tier in TIERS)
    for window in sorted(_beside(errors.points, domain)):
        outcome = policy.outcome({"window": window, "tokens": 0}, check=False)
        for tier in TIERS:
            wanted = exactly[tier].at(window)
            if outcome[tier] != wanted:
                seen = {f"{tier}, engine": outcome[tier], f"{tier}, exact": int(wanted)}
                return Disagreement(window, seen, "the engine's threshold differs from the exact one")
    if errors.doubtful:
        return Disagreement(open=errors.doubtful)
    for tier in TIERS:
        for _, _, number in formulas.named(tier).pieces():
            if number.steps:
                return Disagreement(open=f"whether rounding inside `{tier}` agrees is not decided")
            grain = Fraction(1, math.lcm(number.slope.denominator, number.base.denominator))
            if bound >= _GRAIN or (grain != 1 and grain <= 2 * _GRAIN):
                return Disagreement(open=f"the rounding error of `{tier}` may reach {float(bound):.1g} tokens")
    return Disagreement()


def _whole_tokens(number: Number) -> Number:
    """The first whole token at or above a threshold, never below 0; only its value at single windows is asked for."""
    return _Tokens(number)


class _Tokens(Number):
    def __init__(self, of: Number) -> None:
        super().__init__(of.slope, of.base, of.steps)

    def at(self, window: Fraction | int) -> Fraction:
        return Fraction(max(0, math.ceil(super().at(window))))


def _beside(points: set[Fraction], domain: Ranges) -> set[int]:
    near = {math.floor(point) + step for point in points for step in (-1, 0, 1, 2)}
    return {window for window in near | set(domain.ends()) if window in domain}


class _Errors:
    """Bounds on the rounding error of every value, over all windows; and the break points of every comparison."""

    def __init__(self, read: Read, formulas: Formulas) -> None:
        self.read, self.formulas = read, formulas
        self.points: set[Fraction] = set()
        self.doubtful = ""
        self._known: dict[str, Fraction] = {"window": Fraction(0)}

    def of(self, node: Node) -> Fraction:
        if isinstance(node, Literal):
            return self._constant(node.value)
        if isinstance(node, Ident):
            return self._named(node.name)
        if isinstance(node, Unary):
            return self.of(node.operand)
        if isinstance(node, Logic):
            return max(self.of(part) for part in node.args)
        if isinstance(node, Ternary):
            self.of(node.condition)
            return max(self.of(node.yes), self.of(node.no))
        if isinstance(node, Binary):
            return self._binary(node)
        if isinstance(node, Call) and node.name in ("math.greatest", "math.least"):
            only = node.args[0]
            parts = only.items if len(node.args) == 1 and isinstance(only, ListLit) else node.args
            found = [self.of(part) for part in parts]
            self.points.update(self.formulas.of(node).points())
            return max(found)
        if isinstance(node, Call) and node.name in ("double", "dyn", "math.abs"):
            return self.of(node.args[0])
        self.doubtful = self.doubtful or "the rounding error of a formula is not decided"
        return Fraction(0)

    def _constant(self, value: Any) -> Fraction:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return Fraction(0)
        return abs(Fraction(value) - exact(value))

    def _named(self, name: str) -> Fraction:
        if name not in self._known:
            if name in self.read.derived:
                self._known[name] = self.of(tree(self.read.derived[name]))
            else:
                self._known[name] = self._constant(self.read.table.constants.get(name))
        return self._known[name]

    def _binary(self, node: Binary) -> Fraction:
        one, two = self.of(node.left), self.of(node.right)
        if node.op in ("<", "<=", ">", ">=", "==", "!="):
            self._comparison(node, one + two)
            return Fraction(0)
        left, right = self._size(node.left), self._size(node.right)
        result = self._size(node)
        if node.op in ("+", "-"):
            carried = one + two
        elif node.op == "*":
            carried = one * right + two * left + one * two
        elif node.op == "/" and right > 2 * two:
            carried = (one * right + two * left) / (right * (right - two))
        else:
            self.doubtful = self.doubtful or "the rounding error of a formula is not decided"
            carried = Fraction(0)
        return carried + _HALF_ULP * (result + carried)

    def _comparison(self, node: Binary, error: Fraction) -> None:
        left, right = self.formulas.of(node.left), self.formulas.of(node.right)
        numbers = [isinstance(value, Number) for part in (left, right) for _, value in part.cells]
        if not all(numbers):
            return
        difference = together([left, right], lambda one, two: one.plus(two, -1))
        self.points.update(self.formulas.of(node).points())
        for low, high, number in difference.pieces():
            same = number == Number() and _selects(node)
            ends = (number.at(low), number.at(high))
            close = min(map(abs, ends)) <= error or (ends[0] < 0) != (ends[1] < 0)
            if error and abs(number.slope) <= error and close and not same:
                self.doubtful = self.doubtful or "a comparison of two values that are nearly equal is not decided"

    def _size(self, node: Node) -> Fraction:
        return _largest(self.formulas.of(node))


def _selects(node: Binary) -> bool:
    """Whether both sides are names: a tier compared with the candidate it was chosen from is the same number."""
    return isinstance(node.left, Ident) and isinstance(node.right, Ident)


def _largest(function: Piecewise) -> Fraction:
    found = Fraction(0)
    for cell, number in function.cells:
        if not isinstance(number, Number):
            raise UndecidedError("the size of a value that is no number")
        for line in number.bounds():
            found = max(found, abs(line.at(cell.low)), abs(line.at(cell.high)))
    return found
