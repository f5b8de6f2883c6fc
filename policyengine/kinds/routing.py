"""Routing: which model answers a continuation. Rules first, then vetoes, then the fast model."""

from __future__ import annotations

from dataclasses import replace

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec
from policyengine.rules.table import Outcome, Rule, Table

_COMPLETE = {"veto_reason": None, "model": None}


def build(kind: Kind, spec: Spec) -> Table:
    """A first-hit table; a veto is a rule that decides for primary and is logged as `veto_reason`."""
    table = plain.build(kind, spec)
    last, default = spec.default()
    vetoes = []
    for index, veto in enumerate(spec.get("vetoes")):
        path: Path = ("spec", "vetoes", index)
        outcome = Outcome({"decision": "primary", "veto_reason": veto["id"], "reason": veto["id"], "model": None})
        when = spec.expression((*path, "when"))
        vetoes.append(Rule(veto["id"], when, outcome, spec.document.place(path), veto.get("description", "")))
    rules = [*spec.rules(), *vetoes, *last]
    return replace(
        table,
        rules=spec.unique((replace(rule, outcome=_completed(rule.outcome)) for rule in rules), ("spec", "vetoes")),
        default=_completed(default),
        on_error={**_COMPLETE, **table.on_error},
    )


def _completed(outcome: Outcome) -> Outcome:
    missing = {name: value for name, value in _COMPLETE.items() if name not in outcome.computed}
    return replace(outcome, literals={**missing, **outcome.literals})


KIND = Kind(
    "Routing",
    "Which model answers a continuation",
    build,
    {"decision": "primary", "reason": "error", **_COMPLETE},
)
