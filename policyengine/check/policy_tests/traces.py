"""Why a case failed, in lines that people and programs read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policyengine.cel.errors import Failure
from policyengine.check.policy_tests.running import ABSENT, CaseResult, Mismatch, rules_of
from policyengine.rules.decision import RuleStatus, Step

# How much of a value stands on a line, in characters.
_SHOWN = 100


def where(result: CaseResult) -> str:
    """Which step of a trace failed; empty for a single decision."""
    count = len(result.case.steps)
    return f"step {result.failed_step} of {count}" if count > 1 else ""


def mismatch_lines(mismatch: Mismatch) -> Iterator[str]:
    """Expected and actual of one field."""
    yield f"expected  {mismatch.field}: {_value(mismatch.expected)}"
    yield f"actual    {mismatch.field}: {_value(mismatch.actual)}"


def deciding_lines(result: CaseResult) -> Iterator[str]:
    """What decided in the step that failed: the rule, its condition, and the values that the condition saw."""
    decision = result.steps[-1].decision
    hidden = _recorded(result)
    by = {step.rule: step for step in decision.trace}
    for name in rules_of(decision):
        step = by.get(name)
        yield f"decided   by {name}" + (f": {_flat(step.when)}" if step is not None and step.when else "")
        if step is not None and step.values:
            seen = (f"{_flat(value)} = {shown_value(given, hidden)}" for value, given in step.values.items())
            yield f"          {', '.join(seen)}"
    if all(mismatch.field != "errors" for mismatch in result.steps[-1].mismatches):
        yield from (f"          {error.where}: {error.message}" for error in decision.errors)


def trace_lines(result: CaseResult) -> Iterator[str]:
    """Every rule that was looked at in the step that failed, with the values it saw."""
    decision = result.steps[-1].decision
    hidden = _recorded(result)
    looked = [step for step in decision.trace if step.status is not RuleStatus.SKIPPED]
    for step in looked:
        yield f"{step.status.value:<8} {step.rule}" + (f"   {_flat(step.when)}" if step.when else "")
        for name, value in step.values.items():
            yield f"         {_flat(name)} = {shown_value(value, hidden)}"
        if step.error:
            yield f"         {step.error}"
    if skipped := len(decision.trace) - len(looked):
        yield f"skipped  {skipped} more, because a rule had decided"
    for name, value in decision.derived.items():
        yield f"derived  {name} = {shown_value(value, hidden)}"
    yield f"outcome  {_value(dict(decision.outcome))}"


def _recorded(result: CaseResult) -> bool:
    return result.steps[-1].step.start.recorded is not None


def step_json(step: Step, hidden: bool) -> dict[str, Any]:
    """One rule of a trace for a program."""
    return {
        "rule": step.rule,
        "status": step.status.value,
        "when": step.when,
        "values": {name: _plain(value, hidden) for name, value in step.values.items()},
        "error": step.error,
    }


def shown_value(value: Any, hidden: bool) -> str:
    """A value on one line, or why there is none. `hidden` keeps the texts of a recorded session to themselves."""
    if isinstance(value, Failure):
        return f"error: {value}"
    return _value(_plain(value, hidden))


def _plain(value: Any, hidden: bool) -> Any:
    if isinstance(value, str):
        return f"<text of {len(value)} characters>" if hidden and (" " in value or len(value) > 32) else value
    if isinstance(value, Mapping):
        return {str(key): _plain(one, hidden) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, hidden) for one in value]
    return value if isinstance(value, int | float | bool) or value is None else str(value)


def _value(value: Any) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN * 4 else text[: _SHOWN * 4] + "…"


def _flat(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
