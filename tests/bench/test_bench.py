"""The measurements are fair: the function by hand and the engine give the same decisions."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from policyengine.rules.compile import compile_table
from tests.bench import adapter, routing
from tests.bench.__main__ import rows, shown
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def policy():
    return routing.table()


def test_by_hand_decides_as_the_policy(policy):
    outcome, hand = compile_table(policy).outcome, routing.by_hand(policy)
    example = routing.example()
    changes = [
        {},
        {"explicit_model": "m"},
        {"turn_kind": "cron"},
        {"strategy": "always_primary"},
        {"strategy": "always_fast"},
        {"activated": False},
        {"fast_auto": None},
        {"fast_auto": 1},
        {"unresolved_errors": 1},
        {"compacted_or_cleared": True},
        {"distinct_calls": 9},
        {"tool_output_tokens": 10**6},
        *({"prompt": text} for text in ("", "Привет", "où est le fichier", "改一下", "why", *routing.PROMPTS.values())),
    ]
    for change in changes:
        assert outcome({**example, **change}) == hand({**example, **change}), change
    for row in islice(rows(), 0, 2000):
        assert outcome(row) == hand(row)


def test_the_measured_input_has_every_rule_looked_at(policy):
    compiled = compile_table(policy)
    for prompt in routing.PROMPTS.values():
        trace = compiled.decide({**routing.example(), "prompt": prompt}, trace=True).trace
        assert [step.status for step in trace[:-1]] == ["false"] * (len(trace) - 1)


def test_the_adapter_is_measured_against_the_bare_sdk():
    pytest.importorskip("openai")
    rows = {row["name"]: row for row in adapter.rows(runs=2, names=["openai"])}
    chunk, first = (rows[f"adapter, openai: added {what}"] for what in ("per chunk", "to the first token"))
    # Wide bounds: a busy machine must not fail the test. `make bench` prints the figures.
    assert chunk["value"] < 300
    assert first["value"] < 50_000
    assert all(name in shown(row) for name, row in rows.items())


def test_prompts_are_as_long_as_they_say():
    for length, prompt in routing.PROMPTS.items():
        assert abs(len(prompt) - int(length.replace(" ", ""))) <= 1


def test_the_rows_in_the_readme_are_those_of_the_page():
    rows = re.findall(r"^\|.*\|$", README.split("<!-- rows of docs/bench.md -->")[1].split("\n## ")[0], re.MULTILINE)
    assert len(rows) > 4
    assert set(rows) <= set((ROOT / "docs" / "bench.md").read_text(encoding="utf-8").splitlines())
