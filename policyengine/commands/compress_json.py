"""The JSON of `policyengine compress` and `policyengine probe`, documented in docs/compression.md."""

from __future__ import annotations

from typing import Any

from policyengine.compression.compressor import Compressor
from policyengine.compression.cycles import Cycle
from policyengine.compression.method import Product
from policyengine.compression.probing import Probe
from policyengine.compression.scoring import Score
from policyengine.compression.trial import Trial
from policyengine.kinds.made import Made


def trial_json(trial: Trial) -> dict[str, Any]:
    """One compaction."""
    outcome = trial.outcome
    product = outcome if isinstance(outcome, Product) else None
    return {
        "at": trial.at,
        "method": trial.method,
        "author": trial.author,
        "rule": trial.rule,
        "profile": trial.plan.job.layout.profile if trial.plan is not None else None,
        "accepted": bool(trial.text),
        "attempts": [{"problem": row.problem, "detail": row.detail} for row in trial.attempts],
        "tokens": {"span": trial.span_tokens, "kept": trial.kept_tokens, "summary": trial.summary_tokens},
        "ratio": trial.ratio,
        "unfilled": list(product.unfilled) if product else [],
        "dropped": [
            {"section": row.section, "label": row.label, "text": row.text, "cycle": row.cycle, "replaced": row.replaced}
            for row in (product.dropped if product else ())
        ],
        "rejected": [
            {"section": row.section, "reason": row.reason, "text": row.text}
            for row in (product.rejected if product else ())
        ],
        "score": score_json(trial.score) if trial.score else None,
        "summary": trial.text,
    }


def trigger_json(made: Made) -> dict[str, Any]:
    """What CompressionTriggers says of the send; the prompt it saw is left out."""
    facts = {name: value for name, value in made.input.items() if name != "prompt"}
    return {**made.decision.outcome, "facts": facts}


def score_json(score: Score) -> dict[str, Any]:
    """A score with all its probes."""
    return {
        "mean": score.mean,
        "verdict": score.verdict,
        "dimensions": dict(score.dimensions),
        "strangers": list(score.strangers),
        "probes": [
            {
                **probe_json(row.probe),
                "score": row.score,
                "precision": row.precision,
                "recall": row.recall,
                "missing": list(row.missing),
            }
            for row in score.probes
        ],
    }


def probe_json(probe: Probe) -> dict[str, Any]:
    """A question and its known answer."""
    return {"id": probe.id, "kind": probe.kind, "question": probe.question, "answer": list(probe.answer)}


def cycle_json(compressor: Compressor, cycle: Cycle) -> dict[str, Any]:
    """One compaction of a row."""
    product = cycle.outcome if isinstance(cycle.outcome, Product) else None
    return {
        "number": cycle.number,
        "at": cycle.at,
        "method": cycle.plan.method if cycle.plan is not None else None,
        "accepted": product is not None,
        "attempts": [
            {"problem": row.problem, "detail": row.detail}
            for row in (cycle.outcome.attempts if cycle.outcome is not None else ())
        ],
        "index_whole": product is not None and product.standing.index.same_as(cycle.whole),
        "changed_files": len(cycle.whole.changed),
        "summary_bytes": len(cycle.text.encode("utf-8", "replace")),
        "summary_tokens": compressor.text_tokens(cycle.text),
        "dropped": len(product.dropped) if product else 0,
    }
