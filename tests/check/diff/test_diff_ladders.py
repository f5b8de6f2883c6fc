"""The ladders pairwise: where each threshold differs, exactly, and a window on which the engine agrees."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policyengine.commands import group
from policyengine.kinds.bundle import load
from policyengine.source.resources import policies_folder

LADDERS = policies_folder() / "ladders"
TOP = 10_000_000

PAIRS = [
    # old, new, threshold, the windows in which it differs and in which direction
    ("floor", "gap", "warn", []),
    ("floor", "gap", "auto", []),
    ("floor", "gap", "hard", [(1, 86_666, "+")]),
    ("floor", "ceiling", "warn", [(1, 132_499, "-"), (220_001, TOP, "-")]),
    ("floor", "ceiling", "auto", [(1, 33_000, "+"), (33_001, 109_999, "-"), (220_001, TOP, "-")]),
    ("floor", "ceiling", "hard", [(1, 33_000, "+"), (33_001, 76_666, "-")]),
    ("gap", "ceiling", "auto", [(1, 33_000, "+"), (33_001, 109_999, "-"), (220_001, TOP, "-")]),
    ("gap", "ceiling", "hard", [(10_001, 33_000, "+"), (33_001, 86_666, "-")]),
    ("floor", "floor", "auto", []),
]


def _diff(*arguments: str) -> dict[str, Any]:
    found = CliRunner().invoke(group, ["diff", *arguments, "--format", "json"])
    assert found.exit_code == 0, found.output
    document: dict[str, Any] = json.loads(found.output)
    return document


def _paths(old: str, new: str) -> tuple[str, str]:
    return str(LADDERS / f"{old}.yaml"), str(LADDERS / f"{new}.yaml")


@pytest.mark.parametrize(("old", "new", "tier", "spans"), PAIRS)
def test_windows_in_which_a_threshold_differs(old: str, new: str, tier: str, spans: list[Any]) -> None:
    policies = _diff(*_paths(old, new))["policies"]
    found = policies[0]["differs"].get(tier, []) if policies else []
    assert [(s["from"], s["to"], "+" if s["least"] > 0 else "-") for s in found] == spans
    assert all(s["least"] * s["most"] > 0 for s in found)


@pytest.mark.parametrize(
    ("old", "new"), [("floor", "gap"), ("floor", "ceiling"), ("gap", "ceiling"), ("floor", "proven")]
)
def test_inside_the_ranges_the_engine_differs_and_outside_it_agrees(old: str, new: str) -> None:
    one, two = (load(path).policy(name) for path, name in zip(_paths(old, new), (old, new), strict=True))
    found = _diff(*_paths(old, new))["policies"][0]["differs"]
    probes = {1, 2, 7, 999, 8_000, 20_000, 32_000, 33_000, 33_001, 64_000, 76_667, 86_666, 86_667, 109_999, 110_000,
              128_000, 132_499, 132_500, 200_000, 219_999, 220_000, 220_001, 256_000, 1_000_000, TOP}  # fmt: skip
    for spans in found.values():
        probes |= {w for s in spans for w in (s["from"], s["to"], s["from"] - 1, s["to"] + 1) if 1 <= w <= TOP}
    for window in probes:
        before, after = (policy.outcome({"window": window, "tokens": 0}) for policy in (one, two))
        for tier in ("warn", "auto", "hard", "effective_window", "compact_max_output_tokens"):
            inside = [s for s in found.get(tier, ()) if s["from"] <= window <= s["to"]]
            change = after[tier] - before[tier]
            if not inside:
                assert change == 0, (tier, window)
            else:
                assert math.floor(inside[0]["least"]) <= change <= math.ceil(inside[0]["most"]), (tier, window)


@pytest.mark.parametrize(("old", "new"), [("floor", "gap"), ("floor", "ceiling"), ("gap", "ceiling")])
def test_an_input_on_which_both_differ(old: str, new: str) -> None:
    example = _diff(*_paths(old, new))["policies"][0]["example"]
    tiers = []
    for path, name in zip(_paths(old, new), (old, new), strict=True):
        tiers.append(load(path).policy(name).outcome(example["input"])["tier"])
    assert tiers == [example["old"]["tier"], example["new"]["tier"]]
    assert tiers[0] != tiers[1]


def test_the_same_ladder_written_otherwise_is_proven_the_same(tmp_path: Path) -> None:
    text = (LADDERS / "floor.yaml").read_text(encoding="utf-8")
    path = tmp_path / "floor.yaml"
    path.write_text(text.replace("pct: pct * window", "pct: window - 0.3 * window"), encoding="utf-8")
    found = _diff(str(LADDERS / "floor.yaml"), str(path))["policies"][0]
    assert found["effect"] == "same"
    assert found["windows"] == {"from": 1, "to": TOP}


def test_another_name_for_a_branch_is_a_difference(tmp_path: Path) -> None:
    text = (LADDERS / "floor.yaml").read_text(encoding="utf-8")
    path = tmp_path / "floor.yaml"
    path.write_text(text.replace("collapsed: auto", "joined: auto"), encoding="utf-8")
    found = _diff(str(LADDERS / "floor.yaml"), str(path))["policies"][0]
    assert found["effect"] == "different"
    assert (found["example"]["old"]["hard_branch"], found["example"]["new"]["hard_branch"]) == ("collapsed", "joined")
