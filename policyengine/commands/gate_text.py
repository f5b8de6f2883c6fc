"""The text of `policyengine gate` and `policyengine baseline`."""

from __future__ import annotations

from collections.abc import Mapping

from policyengine.commands.log_text import METRIC, table_text
from policyengine.commands.options import thousands
from policyengine.log.gates import Verdict
from policyengine.log.metrics.statistics import Measure
from policyengine.log.stats import TITLES, UNITS, shown

_TITLES = {**TITLES, "turn_saved_ms": "Median turn, saved against the baseline"}
_UNITS = {**UNITS, "turn_saved_ms": "ms"}


def verdict_text(verdict: Verdict) -> str:
    """The verdict, why, and the numbers."""
    outcome = verdict.outcome
    why = outcome.get("reason")
    lines = [f"{verdict.policy} {verdict.version}: {verdict.verdict.replace('_', ' ')}" + (f" ({why})" if why else "")]
    if verdict.kind == "Stage":
        lines.append(f"stage {outcome['stage']} ({outcome['move']}), fast routing {outcome['fast']}")
    if outcome.get("action"):
        lines.append(f"action {outcome['action']}")
    if outcome.get("advice"):
        lines.append(outcome["advice"])
    return "\n".join([*lines, "", measures_text(verdict.numbers)])


def measures_text(numbers: Mapping[str, Measure]) -> str:
    """Metrics with their sample sizes and intervals."""
    rows = [
        [
            name,
            shown(one.value, _UNITS[name]),
            thousands(one.n),
            "" if one.low is None or one.high is None else f"{one.low:.1%} to {one.high:.1%}",
            _TITLES[name],
        ]
        for name, one in numbers.items()
    ]
    return table_text([*METRIC, "what it is"], rows, right=(1, 2))
