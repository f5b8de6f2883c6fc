"""Against cel-python, on random well-typed expressions and inputs.

Where the two differ, the difference must be one of `KNOWN`: cel-python's own faults, each with the rule of the
specification that decides it, in our words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from policyengine.cel import CelError, evaluate
from tests.cel.generate import INPUTS, expressions
from tests.cel.reference import Reference
from tests.cel.suite import same
from tests.conftest import examples

ERROR = "an error"


class Fault(NamedTuple):
    """A fault of cel-python: when a difference is due to it, and an example."""

    rule: str
    applies: Callable[[str, Any, Any], bool]
    example: str
    ours: Any
    theirs: Any


KNOWN = {
    "equality across types": Fault(
        "Equality is defined for any two values: of different types they are unequal, which is no error.",
        lambda text, ours, theirs: theirs == ERROR and bool(re.search(r"dyn\(|\bx\b|null|\bn\b", text)),
        "dyn(true) == dyn(1.5)",
        False,
        ERROR,
    ),
    "a sum that equals a truth": Fault(
        "Equality is defined for any two values: of different types they are unequal, a number and a bool too.",
        lambda text, ours, theirs: bool(re.search(r"dyn\(|\bx\b", text) and re.search(r"==|!=|\bin\b", text)),
        "dyn(0.0 + 0.0) == dyn(false)",
        False,
        True,
    ),
    "contains() on a concatenation": Fault(
        "The sum of two strings is a string, with all the methods of one.",
        lambda text, ours, theirs: theirs == ERROR and "+" in text and "contains(" in text,
        '("a" + "b").contains("a")',
        True,
        ERROR,
    ),
    "an error within a list that is made": Fault(
        "`&&` and `||` take no notice of an error beside a value that decides, wherever below them it arose.",
        lambda text, ours, theirs: (
            theirs == ERROR
            and bool(re.search(r"\.(map|filter)\(", text) and re.search(r"&&|\|\||\.(all|exists)\(", text))
        ),
        "false && [0].map(v, 1 / v) == []",
        False,
        ERROR,
    ),
    "text of null": Fault(
        "string() takes bools, numbers, strings, bytes, timestamps and durations: null has no such conversion.",
        lambda text, ours, theirs: ours == ERROR and "string(" in text and bool(re.search(r"\bn\b|null", text)),
        "string(null)",
        ERROR,
        "None",
    ),
    "number of null": Fault(
        "double() takes numbers and strings: null has no such conversion.",
        lambda text, ours, theirs: ours == ERROR and "double(" in text and bool(re.search(r"\bn\b|null", text)),
        "double(null)",
        ERROR,
        0.0,
    ),
    "negative index": Fault(
        "An index below zero is out of range, as is one behind the last item.",
        lambda text, ours, theirs: ours == ERROR and bool(re.search(r"[\w\])]\[", text)),
        "[7][-1]",
        ERROR,
        7,
    ),
    "sign of an infinity": Fault(
        "Doubles follow IEEE 754: a division by zero gives an infinity with the sign of the operands.",
        lambda text, ours, theirs: "/" in text,
        "-1.0 / 0.0",
        -math.inf,
        math.inf,
    ),
    "int of a double at the end of the range": Fault(
        "A double converts to int only where it lies inside the range of 64 bits; the ends themselves are errors.",
        lambda text, ours, theirs: ours == ERROR and "int(" in text,
        "int(-9223372036854775808.0)",
        ERROR,
        -(2**63),
    ),
}


@pytest.fixture(scope="module")
def reference():
    with Reference() as running:
        yield running


def ours(text, value):
    try:
        return evaluate(text, value)
    except CelError:
        return ERROR


def theirs(reference, text, value):
    try:
        return reference.evaluate(text, value)
    except CelError:
        return ERROR


def agree(reference, text, value):
    value = {**value, "d": float(value["d"])}  # JSON's 1 for a number is ours to convert, by the schema
    one, two = ours(text, value), theirs(reference, text, value)
    if not same(one, two):
        assert any(fault.applies(text, one, two) for fault in KNOWN.values()), (text, value, one, two)


@pytest.mark.parametrize("name", KNOWN)
def test_known_faults_are_still_there(reference, name):
    fault = KNOWN[name]
    assert same(ours(fault.example, {}), fault.ours)
    assert same(theirs(reference, fault.example, {}), fault.theirs)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions(extensions=False), INPUTS)
def test_random_expressions(reference, text, value):
    agree(reference, text, value)


@pytest.mark.soak
@settings(max_examples=30_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions(extensions=False, depth=4), INPUTS)
def test_many_random_expressions(reference, text, value):
    agree(reference, text, value)
