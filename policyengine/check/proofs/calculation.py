"""Operators and arithmetic functions on symbols. Whole numbers are 64 bits, as in CEL; doubles are taken as exact."""

from __future__ import annotations

from collections.abc import Sequence

from policyengine.cel.limits import MAX_INT, MIN_INT
from policyengine.check.proofs.solver import Term, both, choose, either, no, z3
from policyengine.check.proofs.symbols import NOT_KNOWN, Symbol

_NUMBERS = ("int", "double")
_ORDER = ("<", "<=", ">", ">=")


def equal(left: Symbol, right: Symbol) -> Term | None:
    """`left == right`; None where that is not known."""
    if left.kind == "null" or right.kind == "null":
        other = right if left.kind == "null" else left
        return None if other.kind == "unknown" else either(other.kind == "null", other.null)
    if "unknown" in (left.kind, right.kind):
        return None
    if left.constant is not NOT_KNOWN and right.constant is not NOT_KNOWN and left.kind == right.kind:
        return bool(left.constant == right.constant)
    if left.kind != right.kind and not (left.kind in _NUMBERS and right.kind in _NUMBERS):
        return both(left.null, right.null)
    if left.kind in ("list", "object"):
        return None
    one, two = _alike(left, right)
    same = (one == two) if not isinstance(one, bool) or not isinstance(two, bool) else one is two
    return either(both(left.null, right.null), both(no(left.null), no(right.null), same))


def binary(op: str, left: Symbol, right: Symbol) -> Symbol | None:
    """An order or arithmetic; None where it is not modelled."""
    error = either(left.error, right.error, left.null, right.null)
    if "null" in (left.kind, right.kind):
        return Symbol("bool" if op in _ORDER else "unknown", False, error=True)
    numbers = left.kind in _NUMBERS and right.kind in _NUMBERS
    if op in _ORDER and numbers:
        return Symbol("bool", _ordered(op, *_alike(left, right)), error=error)
    if not numbers or left.kind != right.kind:
        return None
    if left.kind == "double":
        return _doubles(op, left, right, error)
    return _whole(op, left, right, error)


def _ordered(op: str, one: Term, two: Term) -> Term:
    return {"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two}[op]


def _alike(left: Symbol, right: Symbol) -> tuple[Term, Term]:
    if left.kind == right.kind:
        return left.term, right.term
    return _real(left), _real(right)


def _real(value: Symbol) -> Term:
    return z3().ToReal(value.term) if value.kind == "int" else value.term


def _doubles(op: str, left: Symbol, right: Symbol, error: Term) -> Symbol | None:
    if op == "+":
        return Symbol("double", left.term + right.term, error=error)
    if op == "-":
        return Symbol("double", left.term - right.term, error=error)
    if op == "*":
        return Symbol("double", left.term * right.term, error=error)
    if op == "/" and right.constant is not NOT_KNOWN and right.constant:
        return Symbol("double", left.term / right.term, error=error)
    return None


def _whole(op: str, left: Symbol, right: Symbol, error: Term) -> Symbol | None:
    one, two = left.term, right.term
    if op in ("/", "%"):
        size, by = choose(one >= 0, one, -one), choose(two >= 0, two, -two)
        sign = choose((one >= 0) == (two >= 0), 1, -1) if op == "/" else choose(one >= 0, 1, -1)
        found = z3().If(two == 0, 0, sign * (size / by if op == "/" else size % by))
        return bounded(found, either(error, two == 0))
    if op not in ("+", "-", "*"):
        return None
    return bounded({"+": one + two, "-": one - two, "*": one * two}[op], error)


def bounded(term: Term, error: Term) -> Symbol:
    """A whole number, an error where it leaves 64 bits."""
    return Symbol("int", term, error=either(error, term < MIN_INT, term > MAX_INT))


def negated(value: Symbol) -> Symbol | None:
    """`-value`."""
    error = either(value.error, value.null)
    if value.kind == "int":
        return bounded(-value.term, error)
    return Symbol("double", -value.term, error=error) if value.kind == "double" else None


def function(name: str, args: Sequence[Symbol]) -> Symbol | None:
    """A call of a function that is modelled; None for any other."""
    if name in ("math.greatest", "math.least"):
        return _extreme(args, name == "math.greatest")
    if len(args) != 1:
        return None
    value = args[0]
    error = either(value.error, value.null)
    if name == "dyn" or name == value.kind:
        return value if name == "dyn" else value.failing(value.null)
    if name == "double" and value.kind == "int":
        return Symbol("double", z3().ToReal(value.term), error=error)
    if name == "int" and value.kind == "double":
        outside = either(value.term <= MIN_INT, value.term >= MAX_INT + 1)
        return Symbol("int", _cut(value.term), error=either(error, outside))
    if value.kind == "double" and name in _ROUNDINGS:
        return Symbol("double", z3().ToReal(_ROUNDINGS[name](value.term)), error=error)
    if name == "math.abs" and value.kind in _NUMBERS:
        size = choose(value.term >= 0, value.term, -value.term)
        return bounded(size, error) if value.kind == "int" else Symbol("double", size, error=error)
    return None


def _cut(term: Term) -> Term:
    return z3().If(term >= 0, z3().ToInt(term), -z3().ToInt(-term))


def _away(term: Term) -> Term:
    half = z3().Q(1, 2)
    return z3().If(term >= 0, z3().ToInt(term + half), -z3().ToInt(half - term))


_ROUNDINGS = {
    "math.ceil": lambda term: -z3().ToInt(-term),
    "math.floor": lambda term: z3().ToInt(term),
    "math.trunc": _cut,
    "math.round": _away,
}


def _extreme(args: Sequence[Symbol], greatest: bool) -> Symbol | None:
    if len(args) == 1 and args[0].kind == "list" and args[0].exact:
        args = [item for _, item in args[0].items]
    if not args or len({one.kind for one in args}) != 1 or args[0].kind not in _NUMBERS:
        return None
    best = args[0].term
    for one in args[1:]:
        best = choose(one.term > best if greatest else one.term < best, one.term, best)
    return Symbol(args[0].kind, best, error=either(*(one.error for one in args), *(one.null for one in args)))
