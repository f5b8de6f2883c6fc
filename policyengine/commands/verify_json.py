"""The JSON of `policyengine verify`, documented in docs/proofs.md."""

from __future__ import annotations

from typing import Any

from policyengine.check.proofs.ranges import Ranges
from policyengine.check.proofs.results import Report, Result, Verdict


def as_json(report: Report) -> dict[str, Any]:
    """The whole document."""
    return {
        "claims": len(report.results),
        "counts": {verdict.value: report.count(verdict) for verdict in Verdict},
        "missing": list(report.missing),
        "results": [result_json(result) for result in report.results],
    }


def result_json(result: Result) -> dict[str, Any]:
    """One claim."""
    return {
        "policy": result.policy,
        "id": result.id,
        "built_in": result.built_in,
        "title": result.title,
        "claim": result.claim,
        "domain": result.domain,
        "verdict": result.verdict.value,
        "detail": result.detail,
        "fails_at_windows": ranges_json(result.fails),
        "holds_at_windows": ranges_json(result.holds),
        "examples": [
            {"input": dict(example.input), "seen": dict(example.seen), "note": example.note}
            for example in result.examples
        ],
        "accepted": None if result.accepted is None else {"domain": result.accepted, "reason": result.reason},
        "assumes": list(result.assumes),
        "file": result.place.file,
        "line": result.place.line,
        "column": result.place.column,
    }


def ranges_json(ranges: Ranges | None) -> list[dict[str, int]] | None:
    """Ranges of windows, both ends included."""
    return None if ranges is None else [{"from": low, "to": high} for low, high in ranges]
