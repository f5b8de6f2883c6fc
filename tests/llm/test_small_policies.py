"""The policies for the small model are a bundle like any other; this needs no model and runs with all other tests."""

from __future__ import annotations

from pathlib import Path

from policyengine.kinds.bundle import load
from policyengine.kinds.loop import Loop


def test_the_changed_policies_fit_the_small_window(bundle: Path) -> None:
    loaded = load(bundle)
    models = loaded.serving("ModelCatalogue").spec["models"]
    loop = Loop(loaded)
    window = models[0]["window"]
    assert {model["window"] for model in models} == {window}
    ladder = loop.thresholds(window)
    assert 0 < ladder["warn"] < ladder["auto"] < ladder["hard"] < window
    # A summary fits beside a prompt at `auto`, and what is kept beside it leaves room for the talk to go on.
    call = loaded.serving("CompactionCall").outcome(
        {
            "window": window,
            "input_tokens": ladder["auto"],
            "cap": ladder["compact_max_output_tokens"],
            "max_output": None,
        }
    )
    assert call["call"]
    assert call["max_output_tokens"] == ladder["compact_max_output_tokens"]
    plan = loaded.serving("SummaryPlan").outcome({"tokens": ladder["auto"], "window": window, "forced": False})
    assert plan["keep_tokens"] + call["max_output_tokens"] < ladder["hard"]
