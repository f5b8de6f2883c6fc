"""What is proven and refuted about ladders, to the window."""

from __future__ import annotations

from typing import Any

import pytest

from policyengine.check.proofs.ladder import LadderProof
from policyengine.check.proofs.ranges import Ranges
from policyengine.check.proofs.results import Result, Verdict
from policyengine.kinds.bundle import load

TOP = 10_000_000


def _results(policy: Any) -> dict[str, Result]:
    return {result.id: result for result in LadderProof(policy).results()}


DEFAULT = [
    # ladder, claim, verdict, windows at which it fails, windows for which it is proven
    ("floor", "ordered", "proven", (), ((1, TOP),)),
    ("floor", "monotone", "proven", (), ((1, TOP),)),
    ("floor", "self-hosting", "accepted", ((1, 66_666),), ((66_667, TOP),)),
    ("gap", "ordered", "proven", (), ((1, TOP),)),
    ("gap", "monotone", "proven", (), ((1, TOP),)),
    ("gap", "self-hosting", "accepted", ((1, 66_666),), ((66_667, TOP),)),
    ("ceiling", "ordered", "proven", (), ((1, TOP),)),
    ("ceiling", "monotone", "accepted", ((33_000, 33_000),), ((1, 32_999), (33_001, TOP))),
    ("ceiling", "self-hosting", "accepted", ((1, 33_000),), ((33_001, TOP),)),
    *[
        ("proven", claim, "proven", (), ((8_000, TOP),))
        for claim in ("ordered", "apart", "monotone", "without-jumps", "self-hosting", "rescue-fits", "room")
    ],
    *[
        (ladder, claim, "proven", (), ((8_000 if ladder == "proven" else 1, TOP),))
        for ladder in ("floor", "gap", "ceiling", "proven")
        for claim in ("ordered-tokens", "not-negative", "engine-agrees", "rules-reachable", "no-errors")
    ],
]


@pytest.mark.parametrize(("ladder", "claim", "verdict", "fails", "holds"), DEFAULT)
def test_default_ladders(ladder: str, claim: str, verdict: str, fails: Any, holds: Any) -> None:
    result = _results(load().policy(ladder))[claim]
    assert result.verdict == verdict
    assert tuple(result.fails or ()) == fails
    assert tuple(result.holds or ()) == holds


def test_the_step_at_which_the_ceiling_falls_is_what_the_engine_shows() -> None:
    policy = load().policy("ceiling")
    result = _results(policy)["monotone"]
    assert dict(result.examples[0].seen) == {"auto at 33000": 28_050.0, "auto at 33001": 1.0}
    assert [policy.outcome({"window": w, "tokens": 0})["auto"] for w in (33_000, 33_001)] == [28_050, 1]


JUDGED = [
    # name, parts of the spec, the property, verdict, what the detail says
    ("holds", {}, {"assert": "warn <= auto"}, "proven", ""),
    ("fails", {}, {"assert": "auto < 60.0"}, "refuted", ""),
    ("fails, in a domain", {}, {"assert": "auto < 60.0", "domain": "window < 100.0"}, "proven", ""),
    (
        "accepted where it fails", {}, {"assert": "auto < 60.0", "accepted": "window >= 100.0"}, "accepted", "",
    ),
    (
        "accepted too narrowly", {}, {"assert": "auto < 60.0", "accepted": "window > 100.0"}, "refuted",
        "outside the accepted domain",
    ),
    ("accepted in vain", {}, {"assert": "warn <= auto", "accepted": "window > 100.0"}, "refuted", "not needed"),
    ("unknown name", {}, {"assert": "wrn <= auto"}, "refuted", "unknown name 'wrn'"),
    ("mixed numbers", {}, {"assert": "warn + 1 <= auto"}, "refuted", "numbers are not mixed"),
    ("no condition", {}, {"assert": "warn + 1.0"}, "refuted", "not a condition"),
    ("no number", {}, {"nondecreasing": "auto_branch"}, "refuted", "no number"),
    ("no threshold", {}, {"nondecreasing": "auot"}, "refuted", "no threshold"),
    ("no such check", {}, {"check": "one-rule"}, "refuted", "no check"),
    (
        "a product of two windows", {"thresholds": {"warn": "1.0", "auto": "window * window", "hard": "window"}},
        {"assert": "auto >= 0.0"}, "not decided", "both depend on the window",
    ),
    (
        "a quotient by the window", {"thresholds": {"warn": "1.0", "auto": "1.0 / window", "hard": "window"}},
        {"assert": "auto >= 0.0"}, "not decided", "division",
    ),
    (
        "rising in every window", {"thresholds": {"warn": "0.0", "auto": "math.least(window, 500.0)",
         "hard": "window"}},
        {"nondecreasing": "auto"}, "proven", "",
    ),
    (
        "falling somewhere", {"thresholds": {"warn": "0.0", "auto": "math.least(window, 1000.0 - window)",
         "hard": "0.0"}},
        {"nondecreasing": "auto"}, "refuted", "",
    ),
    (
        "falling outside the domain", {"thresholds": {"warn": "0.0", "auto": "math.least(window, 1000.0 - window)",
         "hard": "0.0"}},
        {"nondecreasing": "auto", "domain": "window <= 500.0"}, "proven", "",
    ),
    (
        "a fall across a gap of the domain", {"thresholds": {"warn": "0.0",
         "auto": "math.least(window, 1000.0 - window)", "hard": "0.0"}},
        {"nondecreasing": "auto", "domain": "window <= 500.0 || window == 990.0"}, "refuted", "",
    ),
    (
        "a jump between two whole windows", {"thresholds": {"warn": "0.0", "auto": "window < 10.5 ? 1.0 : 2.0",
         "hard": "3.0"}},
        {"continuous": "auto"}, "refuted", "",
    ),
    ("without jumps", {}, {"continuous": "auto"}, "proven", ""),
    (
        "a bend is no jump", {"thresholds": {"warn": "0.0", "auto": "window < 10.5 ? window : 10.5", "hard": "3.0"}},
        {"continuous": "auto"}, "proven", "",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec", "stated", "verdict", "detail"), JUDGED, ids=[row[0] for row in JUDGED])
def test_judgement(
    ladder_policy: Any, name: str, spec: dict[str, Any], stated: dict[str, Any], verdict: str, detail: str
) -> None:
    row = {"id": "p", **stated}
    if "accepted" in row:
        row["accepted"] = {"domain": row["accepted"], "reason": "known"}
    result = _results(ladder_policy({**spec, "windows": {"from": 1, "to": 2000}, "properties": [row]}))["p"]
    assert result.verdict == verdict
    assert detail in result.detail


WHERE = [
    # expression over window, exactly the windows from 1 to 200 at which it holds
    ("0.1 * window + 0.2 * window == 0.3 * window", [(1, 200)]),
    ("0.7 * window >= 49.0", [(70, 200)]),
    ("0.7 * window > 49.0", [(71, 200)]),
    ("window * 3.0 == 100.0", []),
    ("window * 3.0 == 99.0", [(33, 33)]),
    ("math.ceil(0.1 * window) == 3.0", [(21, 30)]),
    ("math.floor(0.1 * window) == 3.0", [(30, 39)]),
    ("math.round(0.1 * window) == 3.0", [(25, 34)]),
    ("int(0.1 * window) == 3", [(30, 39)]),
    ("math.trunc(0.1 * window - 5.0) == 0.0", [(41, 59)]),
    ("int(window) / 7 == 2", [(14, 20)]),
    ("math.ceil(0.5 * window) > math.floor(0.5 * window) && window <= 5.0", [(1, 1), (3, 3), (5, 5)]),
    ("math.abs(window - 50.0) <= 2.0", [(48, 52)]),
    ("math.sign(window - 50.0) == 0.0", [(50, 50)]),
    ("!(window > 3.0) || window >= 199.0", [(1, 3), (199, 200)]),
    ("window in [1.0, 7.0, 7.5, 300.0]", [(1, 1), (7, 7)]),
    ("(window < 100.0 ? 'small' : 'large') == 'small'", [(1, 99)]),
    ("math.greatest(window, 100.0, 150.0 - window) == 100.0", [(50, 100)]),
    ("cel.bind(x, window - 10.0, x * 2.0 > x) && window < 13.0", [(11, 12)]),
    ("-window <= -199.0", [(199, 200)]),
    ("window / 4.0 == 25.0", [(100, 100)]),
]


@pytest.mark.parametrize(("text", "holds"), WHERE)
def test_the_windows_at_which_something_holds(ladder_policy: Any, text: str, holds: list[tuple[int, int]]) -> None:
    proof = LadderProof(ladder_policy({"windows": {"from": 1, "to": 200}}))
    assert proof.where(text) == Ranges.of(holds)


def test_a_broken_order_is_found_without_being_stated(ladder_policy: Any) -> None:
    thresholds = {"warn": "0.5 * window + 10.0", "auto": "0.6 * window", "hard": "0.7 * window"}
    found = _results(ladder_policy({"thresholds": thresholds}))["ordered-tokens"]
    assert found.verdict is Verdict.REFUTED
    assert found.built_in
    # 0.5 w + 10 > 0.6 w up to 99; in whole tokens 99 is the last window as well: 59.5 and 59.4 round up to the same.
    assert tuple(found.fails or ()) == tuple(_brute(lambda w: -(-(5 * w + 100) // 10) > -(-6 * w // 10)))


def _brute(fails: Any) -> Ranges:
    return Ranges.of((w, w) for w in range(1, 300) if fails(w))


def test_a_negative_threshold_is_found_without_being_stated(ladder_policy: Any) -> None:
    thresholds = {"warn": "window - 33000.0", "auto": "0.6 * window", "hard": "window"}
    found = _results(ladder_policy({"thresholds": thresholds}))["not-negative"]
    assert tuple(found.fails or ()) == ((1, 32_999),)


def test_a_tier_that_no_count_reaches_alone(ladder_policy: Any) -> None:
    thresholds = {"warn": "0.5 * window", "auto": "0.6 * window", "hard": "0.6 * window"}
    found = _results(ladder_policy({"thresholds": thresholds}))["rules-reachable"]
    assert found.verdict is Verdict.REFUTED
    assert "auto" in found.detail


def test_binary_noise_that_whole_tokens_would_show_is_not_called_proven(ladder_policy: Any) -> None:
    # A grain of a ten-millionth lies below what the engine rounds away.
    thresholds = {"warn": "0.5 * window", "auto": "0.6000001 * window", "hard": "0.7 * window"}
    found = _results(ladder_policy({"thresholds": thresholds}))["engine-agrees"]
    assert found.verdict is not Verdict.PROVEN


def test_the_whole_range_is_decided_in_a_moment(ladder_policy: Any) -> None:
    found = _results(ladder_policy({"properties": [{"id": "p", "assert": "warn_at < auto_at"}]}))["p"]
    assert found.verdict is Verdict.REFUTED
    assert tuple(found.fails or ()) == ((1, 1), (3, 3), (5, 5))
