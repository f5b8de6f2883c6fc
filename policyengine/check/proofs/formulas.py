"""CEL over the single variable `window`, interpreted exactly: every expression becomes a function cell by cell."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from policyengine.cel.syntax import (
    Binary,
    Bind,
    Call,
    Ident,
    ListLit,
    Literal,
    Logic,
    Node,
    Ternary,
    Unary,
)
from policyengine.check.proofs.cells import Piecewise, UndecidedError, sign, together
from policyengine.check.proofs.numbers import Number
from policyengine.check.proofs.reading import Read, tree

_ORDER: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ROUNDINGS = {"math.ceil": "ceil", "math.floor": "floor", "math.round": "round", "math.trunc": "trunc"}
_MIXED = "a value that is a number for some windows only"


class Formulas:
    """The derived values of a ladder as exact functions of the window, from `low` to `high`.

    A derived value is worked out when it is asked for; one outside the fragment raises UndecidedError then.
    """

    def __init__(self, read: Read, low: int, high: int) -> None:
        self.read, self.low, self.high = read, low, high
        window = Piecewise.constant(low, high, Number(slope=Fraction(1)))
        self._known: dict[str, Piecewise] = {"window": window}

    def named(self, name: str) -> Piecewise:
        """A derived value or a constant."""
        if name not in self._known:
            if name in self.read.derived:
                self._known[name] = self.of(tree(self.read.derived[name]))
            elif name in self.read.table.constants:
                self._known[name] = self.constant(self.read.table.constants[name])
            else:
                raise UndecidedError(f"`{name}` is not a function of the window alone")
        return self._known[name]

    def constant(self, value: Any) -> Piecewise:
        """The same value everywhere."""
        return Piecewise.constant(self.low, self.high, _constant(value))

    def of(self, node: Node, local: Mapping[str, Piecewise] | None = None) -> Piecewise:
        """The function that an expression stands for. Raises UndecidedError."""
        scope = local or {}
        if isinstance(node, Literal):
            return self.constant(node.value)
        if isinstance(node, Ident):
            return scope[node.name] if node.role == "local" else self.named(node.name)
        if isinstance(node, Unary):
            value = self.of(node.operand, scope)
            return together([value], _not if node.op == "!" else _negated)
        if isinstance(node, Binary):
            return self._binary(node, scope)
        if isinstance(node, Logic):
            return self._logic(node, scope)
        if isinstance(node, Ternary):
            parts = [self.of(part, scope) for part in node.children()]
            return together(parts, lambda test, yes, no: yes if _bool(test) else no)
        if isinstance(node, ListLit) and not node.optional:
            return together([self.of(item, scope) for item in node.items], lambda *items: items)
        if isinstance(node, Bind):
            return self.of(node.body, {**scope, node.name: self.of(node.value, scope)})
        if isinstance(node, Call):
            return self._call(node, scope)
        raise UndecidedError("an expression that is more than arithmetic over the window")

    def _logic(self, node: Logic, scope: Mapping[str, Piecewise]) -> Piecewise:
        join = all if node.op == "&&" else any
        return together([self.of(part, scope) for part in node.args], lambda *found: join(map(_bool, found)))

    def _binary(self, node: Binary, scope: Mapping[str, Piecewise]) -> Piecewise:
        left, right = self.of(node.left, scope), self.of(node.right, scope)
        op = node.op
        if op in _ORDER:
            return _compared(left, right, lambda found: _ORDER[op](found, 0))
        if op in ("==", "!="):
            return _equal(left, right, op == "==")
        if op == "in":
            if not isinstance(node.right, ListLit):
                raise UndecidedError("`in` over a list that is not written out")
            tests = [_equal(left, self.of(item, scope), True) for item in node.right.items]
            return together(tests, lambda *found: any(found)) if tests else self.constant(False)
        if op == "+":
            return together([left, right], lambda one, two: _number(one).plus(_number(two)))
        if op == "-":
            return together([left, right], lambda one, two: _number(one).plus(_number(two), -1))
        if op == "*":
            return together([left, right], _product)
        if op == "/":
            whole = node.left.type.kind != "double"
            return together([left, right], lambda one, two: _quotient(one, two, whole))
        raise UndecidedError(f"the operator {op}")

    def _call(self, node: Call, scope: Mapping[str, Piecewise]) -> Piecewise:
        args = [self.of(part, scope) for part in node.children()]
        if node.name in ("math.greatest", "math.least"):
            return _extreme(_flat(node, args, self, scope), node.name == "math.greatest")
        if node.name in _ROUNDINGS and len(args) == 1:
            return together(args, lambda one: _number(one).rounded(_ROUNDINGS[node.name]))
        if node.name in ("double", "int", "dyn") and len(args) == 1:
            cut = node.name == "int" and node.children()[0].type.kind == "double"
            return together(args, lambda one: _number(one).rounded("trunc") if cut else one)
        if node.name == "math.abs" and len(args) == 1:
            return _extreme([args[0], together(args, _negated)], True)
        if node.name == "math.sign" and len(args) == 1:
            return together([sign(args[0])], lambda one: Number.constant(one))
        raise UndecidedError(f"the function {node.name}()")


def _constant(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Number.constant(value)
    if isinstance(value, (list, tuple)):
        return tuple(_constant(item) for item in value)
    return value


def _flat(node: Call, args: Sequence[Piecewise], formulas: Formulas, scope: Mapping[str, Piecewise]) -> list[Piecewise]:
    only = node.args[0]
    if len(node.args) == 1 and isinstance(only, ListLit):
        return [formulas.of(item, scope) for item in only.items]
    if len(node.args) == 1 and any(isinstance(value, tuple) for _, value in args[0].cells):
        raise UndecidedError(f"{node.name}() over a list that is not written out")
    return list(args)


def _compared(left: Piecewise, right: Piecewise, test: Callable[[int], bool]) -> Piecewise:
    return together([sign(_difference(left, right))], test)


def _difference(left: Piecewise, right: Piecewise) -> Piecewise:
    return together([left, right], lambda one, two: _number(one).plus(_number(two), -1))


def _equal(left: Piecewise, right: Piecewise, wanted: bool) -> Piecewise:
    numbers = [isinstance(value, Number) for part in (left, right) for _, value in part.cells]
    if all(numbers):
        return _compared(left, right, lambda found: (found == 0) == wanted)
    if any(numbers):
        raise UndecidedError(_MIXED)
    return together([left, right], lambda one, two: (type(one) is type(two) and one == two) == wanted)


def _extreme(parts: Sequence[Piecewise], greatest: bool) -> Piecewise:
    best = parts[0]
    for part in parts[1:]:
        order = sign(_difference(part, best))
        better = 1 if greatest else -1
        best = together([order, part, best], lambda found, new, old, better=better: new if found == better else old)
    return best


def _number(value: Any) -> Number:
    if not isinstance(value, Number):
        raise UndecidedError(_MIXED)
    return value


def _bool(value: Any) -> bool:
    if value is not True and value is not False:
        raise UndecidedError("a condition that is not true or false for every window")
    return bool(value)


def _not(value: Any) -> bool:
    return not _bool(value)


def _negated(value: Any) -> Number:
    return _number(value).times(Fraction(-1))


def _product(left: Any, right: Any) -> Number:
    one, two = _number(left), _number(right)
    if not two.fixed:
        one, two = two, one
    if not two.fixed:
        raise UndecidedError("a product of two values that both depend on the window")
    return one.times(two.base)


def _quotient(left: Any, right: Any, whole: bool) -> Number:
    one, two = _number(left), _number(right)
    if not two.fixed or two.base == 0:
        raise UndecidedError("a division by something that depends on the window, or by zero")
    found = one.times(1 / two.base)
    return found.rounded("trunc") if whole else found
