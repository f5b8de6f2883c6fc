"""The solver, where it is installed, and Boolean terms that fold."""

from __future__ import annotations

from functools import cache
from typing import Any

from policyengine.source.errors import MissingExtraError

Term = Any
"""A z3 expression, or a plain bool, int or Fraction where the value is known."""


@cache
def z3() -> Any:
    """The z3 module. Raises MissingExtraError."""
    try:
        import z3 as module
    except ImportError:
        raise MissingExtraError("z3-solver", "proofs", "proving a policy that is not a ladder") from None
    return module


def both(*parts: Term) -> Term:
    """Conjunction."""
    kept = [part for part in parts if part is not True]
    if any(part is False for part in kept):
        return False
    return True if not kept else kept[0] if len(kept) == 1 else z3().And(*kept)


def either(*parts: Term) -> Term:
    """Disjunction."""
    kept = [part for part in parts if part is not False]
    if any(part is True for part in kept):
        return True
    return False if not kept else kept[0] if len(kept) == 1 else z3().Or(*kept)


def no(part: Term) -> Term:
    """Negation."""
    return (not part) if isinstance(part, bool) else z3().Not(part)


def choose(test: Term, yes: Term, other: Term) -> Term:
    """`yes` where the test holds, else `other`."""
    if isinstance(test, bool):
        return yes if test else other
    if isinstance(yes, bool) and isinstance(other, bool):
        return yes if yes == other else (test if yes else no(test))
    return z3().If(test, yes, other)
