"""Every candidate rule of a decision and what became of it, also where the decision was made without a trace."""

from __future__ import annotations

from policyengine.kinds.made import Made
from policyengine.rules.decision import Decision, Step
from policyengine.rules.table import HitPolicy, Table

_OVER_BUDGET = "took more than"
"""What the error of an expression says that used up its steps."""


def rule_statuses(made: Made) -> list[dict[str, str]]:
    """The rules in order.

    What a decision without a trace leaves open is worked out: where the first hit decides, every rule before it was
    false and every rule after it was skipped. Where something failed, the decision is made again with its trace:
    deciding is pure.
    """
    table, decision = made.policy.table, made.decision
    if decision.errors and not decision.trace and table.rules:
        decision = made.policy.decide(made.input, trace=True)
    if decision.trace:
        return [{"id": step.rule, "status": _status(step)} for step in decision.trace]
    return _without_trace(table, decision)


def _status(step: Step) -> str:
    return "over_budget" if step.error is not None and _OVER_BUDGET in step.error else step.status.value


def _without_trace(table: Table, decision: Decision) -> list[dict[str, str]]:
    found = []
    matched = frozenset(decision.rules)
    done = False
    for rule in table.rules:
        status = "skipped" if done else "matched" if rule.id in matched else "false"
        done = done or (status == "matched" and table.hit is HitPolicy.FIRST)
        found.append({"id": rule.id, "status": status})
    return found
