"""The exact functions against exact arithmetic done another way, and against the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from policyengine.check.proofs.cells import UndecidedError
from policyengine.check.proofs.ladder import LadderProof
from policyengine.check.proofs.ranges import Ranges
from tests.conftest import examples

TOP = 400
QUIET = settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

Exact = Callable[[int], Any]
Written = tuple[str, Exact]
"""An expression as text, and what it is at a window by Python's fractions."""

_decimals = st.integers(-300, 300).map(lambda tenths: (repr(tenths / 10), Fraction(tenths, 10)))
_factors = st.sampled_from(["0.0", "0.1", "0.3", "0.7", "0.85", "1.0", "1.5", "0.333", "2.0"])


def _constant(pair: tuple[str, Fraction]) -> Written:
    text, value = pair
    return (f"({text})" if text.startswith("-") else text), lambda _: value


_leaf: st.SearchStrategy[Written] = st.one_of(
    st.just(("window", lambda w: Fraction(w))),
    _decimals.map(_constant),
)


def _extend(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    def scaled(factor: str, one: Written) -> Written:
        return f"{factor} * ({one[0]})", lambda w: Fraction(factor) * one[1](w)

    def sum_(one: Written, two: Written) -> Written:
        return f"({one[0]} + {two[0]})", lambda w: one[1](w) + two[1](w)

    def less(one: Written, two: Written) -> Written:
        return f"({one[0]} - {two[0]})", lambda w: one[1](w) - two[1](w)

    def greatest(one: Written, two: Written) -> Written:
        return f"math.greatest({one[0]}, {two[0]})", lambda w: max(one[1](w), two[1](w))

    def least(one: Written, two: Written) -> Written:
        return f"math.least({one[0]}, {two[0]})", lambda w: min(one[1](w), two[1](w))

    def chosen(test: Written, limit: Written, one: Written, two: Written) -> Written:
        return (
            f"({test[0]} > {limit[0]} ? {one[0]} : {two[0]})",
            lambda w: one[1](w) if test[1](w) > limit[1](w) else two[1](w),
        )

    def up(one: Written) -> Written:
        return f"math.ceil({one[0]})", lambda w: Fraction(math.ceil(one[1](w)))

    return st.one_of(
        st.builds(scaled, _factors, inner),
        st.builds(sum_, inner, inner),
        st.builds(less, inner, inner),
        st.builds(greatest, inner, inner),
        st.builds(least, inner, inner),
        st.builds(chosen, inner, inner, inner, inner),
        st.builds(up, inner),
    )


_numbers = st.recursive(_leaf, _extend, max_leaves=8)


@pytest.fixture
def proof(ladder_policy: Any) -> LadderProof:
    return LadderProof(ladder_policy({"windows": {"from": 1, "to": TOP}}))


@QUIET
@given(written=_numbers, windows=st.lists(st.integers(1, TOP), min_size=3, max_size=8))
def test_values_are_exact(proof: LadderProof, written: Written, windows: list[int]) -> None:
    text, exact = written
    try:
        function = proof.formulas.of(proof.read.expression(text).node)
    except UndecidedError:
        return
    beside = {math.floor(point) + step for point in function.points() for step in (0, 1)}
    for window in {*windows, *(w for w in beside if 1 <= w <= TOP)}:
        assert function.at(window) == exact(window), (text, window)


@QUIET
@given(one=_numbers, two=_numbers, op=st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_where_a_comparison_holds_is_exact_at_every_window(
    proof: LadderProof, one: Written, two: Written, op: str
) -> None:
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    try:
        found = proof.where(f"{one[0]} {op} {two[0]}")
    except UndecidedError:
        return
    assert found == Ranges.of((w, w) for w in range(1, TOP + 1) if tests[op](one[1](w), two[1](w)))


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    pct=st.integers(1, 99),
    warn=st.integers(0, 30),
    reserve=st.integers(0, 200),
    buffer=st.integers(0, 120),
    hard=st.integers(0, 60),
    join=st.sampled_from(["greatest", "least"]),
    windows=st.lists(st.integers(1, TOP), min_size=5, max_size=20),
)
@example(pct=70, warn=0, reserve=0, buffer=27, hard=0, join="greatest", windows=[90])
def test_random_ladders_agree_with_the_engine_in_whole_tokens(
    ladder_policy: Any, pct: int, warn: int, reserve: int, buffer: int, hard: int, join: str, windows: list[int]
) -> None:
    policy = ladder_policy(
        {
            "constants": {"pct": pct / 100, "less": warn / 100, "reserve": reserve, "buffer": buffer, "rest": hard},
            "derived": {
                "effective_window": "math.greatest(0.0, window - reserve)",
                "compact_max_output_tokens": "reserve",
            },
            "thresholds": {
                "auto": {join: {"pct": "pct * window", "abs": "effective_window - buffer"}},
                "warn": {join: {"pct": "(pct - less) * window", "abs": "auto - buffer"}},
                "hard": {
                    "greatest": {"abs": "effective_window - rest", "auto": "auto"},
                    "at_most": {"window": "window"},
                },
            },
            "windows": {"from": 1, "to": TOP},
        }
    )
    proof = LadderProof(policy)
    results = {result.id: result for result in proof.results()}
    assert results["engine-agrees"].verdict == "proven"
    beside = {math.floor(p) + step for p in proof.formulas.named("auto").points() for step in (0, 1)}
    broken = Ranges()
    for window in {*windows, *(w for w in beside if 1 <= w <= TOP)}:
        outcome = policy.outcome({"window": window, "tokens": 0})
        for tier in ("warn", "auto", "hard"):
            assert outcome[tier] == max(0, math.ceil(proof.formulas.named(tier).at(window)))
            named = {outcome[f"{tier}_branch"], proof.formulas.named(f"{tier}_branch").at(window)}
            if len(named) > 1:
                # Doubles may put two that are equal a hair apart, and then name the other one: 0.7 * 90 and 63.
                effective, auto = max(0, window - reserve), proof.formulas.named("auto").at(window)
                equal = {
                    "auto": {"pct": Fraction(pct, 100) * window, "abs": effective - buffer},
                    "warn": {"pct": Fraction(pct - warn, 100) * window, "abs": auto - buffer},
                    "hard": {"abs": effective - hard, "auto": auto, "window": window},
                }
                assert len({equal[tier][branch] for branch in named}) == 1, (tier, window, named)
        if not outcome["warn"] <= outcome["auto"] <= outcome["hard"]:
            broken |= Ranges.of([(window, window)])
    ordered = results["ordered-tokens"]
    assert (ordered.fails or Ranges()) & broken == broken
    for low, high in ordered.fails or ():
        for window in (low, high):
            outcome = policy.outcome({"window": window, "tokens": 0})
            assert not outcome["warn"] <= outcome["auto"] <= outcome["hard"]
