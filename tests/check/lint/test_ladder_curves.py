"""What lint says about the shipped ladders is what their design says, to the token."""

from itertools import pairwise

import pytest

from policyengine.check.lint.ladders import Curve, windows
from policyengine.kinds.bundle import check
from policyengine.source.resources import policies_folder


@pytest.fixture(scope="module")
def curves():
    bundle, _ = check(policies_folder())
    return {policy.name: Curve(policy, policy.compiled.programs) for policy in bundle.of_kind("Ladder")}


def ranges(curve, test):
    return [(first.window, last.window) for first, last in curve.where(test)]


@pytest.mark.parametrize(
    ("ladder", "where"), [("floor", [(1, 66_666)]), ("gap", [(1, 66_666)]), ("ceiling", [(1, 33_000)]), ("proven", [])]
)
def test_self_hosting(curves, ladder, where):
    assert ranges(curves[ladder], lambda at: at.auto + at.cap > at.window) == where


@pytest.mark.parametrize("ladder", ["floor", "gap", "ceiling", "proven"])
def test_order(curves, ladder):
    assert ranges(curves[ladder], lambda at: at.warn > at.auto or at.auto > at.hard) == []


def test_the_floor_ladder_collapses_up_to_a_window(curves):
    assert ranges(curves["floor"], lambda at: at.auto == at.hard) == [(1, 76_669)]
    at = curves["floor"].at(60_000)
    assert (at.auto, at.hard) == (42_000, 42_000)
    assert curves["gap"].at(60_000).hard == 45_000


def test_a_step_of_one_window_is_found(curves):
    points = curves["ceiling"].points
    steps = [(one.window, two.window) for one, two in pairwise(points) if two.auto < one.auto]
    assert steps == [(33_000, 33_001)]


def test_ranges_in_words(curves):
    curve = curves["floor"]
    one, ten, last = curve.at(1), curve.at(10), curve.at(10_000_000)
    assert windows(one, one, 10_000_000) == "for the window 1"
    assert windows(one, ten, 10_000_000) == "for windows from 1 to 10"
    assert windows(ten, last, 10_000_000) == "for every window from 10"
