"""What `policyengine log stats` says, as data."""

from __future__ import annotations

from typing import Any

from policyengine.log.collecting import without_collecting
from policyengine.log.metrics.definitions import METRICS, measures, vetoes
from policyengine.log.metrics.tally import Tally
from policyengine.log.scan import Counted


def as_json(counted: Counted, by: str | None = None) -> dict[str, Any]:
    """Everything: counts and metrics, of each group too where they were counted."""
    with without_collecting():
        found = one(counted.whole)
        if by is not None:
            found["by"] = by
            found["groups"] = {name: one(tally) for name, tally in sorted(counted.groups.items())}
    return found


def one(tally: Tally) -> dict[str, Any]:
    """Counts and metrics of one tally."""
    days = tally.days
    return {
        "records": tally.records,
        "dropped": tally.dropped,
        "unreadable": tally.unreadable,
        "errors": tally.errors,
        "rounds": len(tally.rounds),
        "days": len(days),
        "first_day": days[0] if days else None,
        "last_day": days[-1] if days else None,
        "kinds": dict(sorted(tally.kinds.items())),
        "metrics": {name: measure.as_json() for name, measure in measures(tally).items()},
        "vetoes": {name: measure.as_json() for name, measure in vetoes(tally).items()},
    }


def shown(value: float | None, unit: str) -> str:
    """A metric's value for a person."""
    if value is None:
        return "–"
    if unit == "share":
        return f"{value:.1%}"
    return f"{value:,.0f}".replace(",", " ") + (" ms" if unit == "ms" else "")


UNITS = {metric.name: metric.unit for metric in METRICS}
TITLES = {metric.name: metric.title for metric in METRICS}
