"""Building decision records (`schemas/record.schema.json`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.loop import Made
from policyengine.log.masking import digest, hashed, masked
from policyengine.source.schema import load_schema

SCHEMA = "policyengine.record/1"

CHANGING_KINDS = frozenset({"edit", "delete", "move", "execute"})
"""Kinds of tools that `has_write_tool` counts, as the record's schema defines it."""


@lru_cache(maxsize=1)
def fields() -> tuple[str, ...]:
    """Every field of a record, in the schema's order."""
    return tuple(load_schema("record")["properties"])


@lru_cache(maxsize=1)
def engine_version() -> str:
    """Version of the installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("policyengine")
    except PackageNotFoundError:
        return "0"


class Recorder:
    """Turns decisions of one bundle into records.

    `show_prompts` writes strings as they are instead of hashed. `source` is `replay`, `eval` or `runtime`.
    """

    def __init__(self, bundle: Bundle, *, source: str = "eval", show_prompts: bool = False) -> None:
        self.show_prompts = show_prompts
        self._frame = {
            "schema": SCHEMA,
            "engine_version": engine_version(),
            "bundle": bundle.name,
            "bundle_version": bundle.version,
            "bundle_digest": bundle.digest,
            "source": source,
        }

    def record(self, made: Made, *, time_ms: int | None = None, **about: Any) -> dict[str, Any]:
        """One record. `time_ms` is the Unix time of the decision (ms); now where `about` names no session.

        `about` holds further fields of the record (session_id, turn_id, round, prompt_tokens, ...).
        """
        policy, decision = made.policy, made.decision
        record: dict[str, Any] = dict.fromkeys(fields())
        record.update(self._frame)
        record.update(
            policy=decision.policy,
            policy_version=decision.version,
            kind=policy.kind.name,
            rule=decision.rules[0] if decision.rules else None,
            rules=[{"id": step.rule, "status": step.status.value} for step in decision.trace],
            outcome=self._outcome(made),
            errors=[{"where": error.where, "message": error.message} for error in decision.errors],
            input=made.input if self.show_prompts else masked(made.input, policy.input_schema),
            input_digest=digest(made.input),
        )
        if self._frame["source"] != "replay":
            time_ms = time_ms if time_ms is not None else int(time.time() * 1000)
            record["monotonic_ms"] = time.monotonic_ns() // 1_000_000
        if time_ms is not None:
            record["time"] = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
        if decision.trace:
            record["trace"] = [
                {
                    "rule": step.rule,
                    "status": step.status.value,
                    "values": dict(step.values) if self.show_prompts else masked_values(step.values),
                }
                for step in decision.trace
            ]
        record.update(_by_kind(made))
        record.update(about)
        return record

    def _outcome(self, made: Made) -> Mapping[str, Any]:
        """The outcome; of a table of a person's own, computed strings are hashed: they may repeat the input."""
        outcome = made.decision.outcome
        if self.show_prompts or made.policy.kind.name != "Table":
            return dict(outcome)
        literal = {
            value
            for rule in (*(r.outcome for r in made.policy.table.rules), made.policy.table.default)
            for value in rule.literals.values()
            if isinstance(value, str)
        }
        return {name: hashed(v) if isinstance(v, str) and v not in literal else v for name, v in outcome.items()}


def masked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a trace with every string hashed: they have no schema of their own."""
    return {name: masked(value, None) for name, value in values.items()}


def _by_kind(made: Made) -> dict[str, Any]:
    """The fields that follow from the decision itself."""
    outcome, given = made.decision.outcome, made.input
    match made.policy.kind.name:
        case "Routing":
            return {
                "decision": outcome["decision"],
                "tier_requested": outcome["decision"],
                "user_strategy": given["strategy"],
                "veto_reason": outcome.get("veto_reason"),
                "distinct_tool_count": given["distinct_calls"],
                "output_tokens_est": given["tool_output_tokens"],
                **_batch(given["batch"]),
            }
        case "Directives":
            return {
                "decision": "skip" if outcome["directive"] == "skip" else None,
                "signal_skip_llm_round": outcome["directive"] == "skip",
                "signal_result_is_terminal": outcome.get("terminal"),
                "user_prompt_classification": given["prompt_class"],
                **_batch(given["batch"]),
            }
        case "PromptClass":
            return {"user_prompt_classification": outcome["prompt_class"]}
        case "Ladder":
            return {"tier": outcome["tier"]}
        case "CompactionGate":
            return {"forced": given["forced"]}
        case "CompactionResult":
            return {
                "compaction_outcome": outcome["result"],
                "compaction_input_tokens": given["tokens_before"],
                "compaction_output_tokens": given["output_tokens"],
            }
        case "Breaker":
            return {"forced": given["forced"], "consecutive_failures": outcome.get("consecutive_failures")}
        case _:
            return {}


def _batch(batch: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "tool_count": len(batch),
        "has_write_tool": any(call["kind"] in CHANGING_KINDS for call in batch),
        "has_error": any(call["error"] for call in batch),
        "has_cancel": any(call["cancelled"] for call in batch),
    }
