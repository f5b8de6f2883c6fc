"""The fields of a record that follow from a decision itself, by the kind of its policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyengine.kinds.made import Made
from policyengine.rules.decision import INPUT

CHANGING_KINDS = frozenset({"edit", "delete", "move", "execute"})
"""Kinds of tools that `has_write_tool` counts, as the record's schema defines it."""


def kind_fields(made: Made) -> dict[str, Any]:
    """The fields; none for a kind that has none of its own, and none of an input that does not fit its schema."""
    found = _FIELDS.get(made.policy.kind.name)
    if found is None:
        return {}
    of_input, of_outcome = found
    fields = of_outcome(made.decision.outcome)
    if not any(error.where == INPUT for error in made.decision.errors):
        fields.update(of_input(made.input))
    return fields


_Json = Mapping[str, Any]


def _nothing(_: _Json) -> dict[str, Any]:
    return {}


def _routing_input(given: _Json) -> dict[str, Any]:
    return {
        "user_strategy": given["strategy"],
        "distinct_tool_count": given["distinct_calls"],
        "output_tokens_est": given["tool_output_tokens"],
        **_batch(given),
    }


def _routing(outcome: _Json) -> dict[str, Any]:
    decision = outcome["decision"]
    return {"decision": decision, "tier_requested": decision, "veto_reason": outcome.get("veto_reason")}


def _directives_input(given: _Json) -> dict[str, Any]:
    return {"user_prompt_classification": given["prompt_class"], **_batch(given)}


def _directives(outcome: _Json) -> dict[str, Any]:
    skip = outcome["directive"] == "skip"
    return {
        "decision": "skip" if skip else None,
        "signal_skip_llm_round": skip,
        "signal_result_is_terminal": outcome.get("terminal"),
    }


def _prompt_class(outcome: _Json) -> dict[str, Any]:
    return {"user_prompt_classification": outcome["prompt_class"], "more_detail": outcome.get("more_detail")}


def _ladder(outcome: _Json) -> dict[str, Any]:
    return {"tier": outcome["tier"]}


def _forced(given: _Json) -> dict[str, Any]:
    return {"forced": given["forced"]}


def _compaction_input(given: _Json) -> dict[str, Any]:
    return {
        "compaction_input_tokens": given["tokens_before"],
        "compaction_output_tokens": given["output_tokens"],
    }


def _compaction(outcome: _Json) -> dict[str, Any]:
    return {"compaction_outcome": outcome["result"]}


def _breaker(outcome: _Json) -> dict[str, Any]:
    return {"consecutive_failures": outcome.get("consecutive_failures")}


def _batch(given: _Json) -> dict[str, Any]:
    batch: Sequence[_Json] = given["batch"]
    return {
        "tool_count": len(batch),
        "has_write_tool": any(call["kind"] in CHANGING_KINDS for call in batch),
        "has_error": any(call["error"] for call in batch),
        "has_cancel": any(call["cancelled"] for call in batch),
    }


_Fields = Callable[[_Json], dict[str, Any]]

_FIELDS: dict[str, tuple[_Fields, _Fields]] = {
    "Routing": (_routing_input, _routing),
    "Directives": (_directives_input, _directives),
    "PromptClass": (_nothing, _prompt_class),
    "Ladder": (_nothing, _ladder),
    "CompactionGate": (_forced, _nothing),
    "CompactionResult": (_compaction_input, _compaction),
    "Breaker": (_forced, _breaker),
}
"""By kind: the fields that follow from the input, and those that follow from the outcome."""
