"""The fields of a record that follow from a decision itself, by the kind of its policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyengine.kinds.loop import Made

CHANGING_KINDS = frozenset({"edit", "delete", "move", "execute"})
"""Kinds of tools that `has_write_tool` counts, as the record's schema defines it."""


def kind_fields(made: Made) -> dict[str, Any]:
    """The fields; none for a kind that has none of its own."""
    found = _FIELDS.get(made.policy.kind.name)
    return found(made.input, made.decision.outcome) if found else {}


_Json = Mapping[str, Any]


def _routing(given: _Json, outcome: _Json) -> dict[str, Any]:
    return {
        "decision": outcome["decision"],
        "tier_requested": outcome["decision"],
        "user_strategy": given["strategy"],
        "veto_reason": outcome.get("veto_reason"),
        "distinct_tool_count": given["distinct_calls"],
        "output_tokens_est": given["tool_output_tokens"],
        **_batch(given["batch"]),
    }


def _directives(given: _Json, outcome: _Json) -> dict[str, Any]:
    skip = outcome["directive"] == "skip"
    return {
        "decision": "skip" if skip else None,
        "signal_skip_llm_round": skip,
        "signal_result_is_terminal": outcome.get("terminal"),
        "user_prompt_classification": given["prompt_class"],
        **_batch(given["batch"]),
    }


def _prompt_class(_: _Json, outcome: _Json) -> dict[str, Any]:
    return {"user_prompt_classification": outcome["prompt_class"], "more_detail": outcome.get("more_detail")}


def _ladder(_: _Json, outcome: _Json) -> dict[str, Any]:
    return {"tier": outcome["tier"]}


def _compaction_gate(given: _Json, _: _Json) -> dict[str, Any]:
    return {"forced": given["forced"]}


def _compaction_result(given: _Json, outcome: _Json) -> dict[str, Any]:
    return {
        "compaction_outcome": outcome["result"],
        "compaction_input_tokens": given["tokens_before"],
        "compaction_output_tokens": given["output_tokens"],
    }


def _breaker(given: _Json, outcome: _Json) -> dict[str, Any]:
    return {"forced": given["forced"], "consecutive_failures": outcome.get("consecutive_failures")}


def _batch(batch: Sequence[_Json]) -> dict[str, Any]:
    return {
        "tool_count": len(batch),
        "has_write_tool": any(call["kind"] in CHANGING_KINDS for call in batch),
        "has_error": any(call["error"] for call in batch),
        "has_cancel": any(call["cancelled"] for call in batch),
    }


_FIELDS: dict[str, Callable[[_Json, _Json], dict[str, Any]]] = {
    "Routing": _routing,
    "Directives": _directives,
    "PromptClass": _prompt_class,
    "Ladder": _ladder,
    "CompactionGate": _compaction_gate,
    "CompactionResult": _compaction_result,
    "Breaker": _breaker,
}
