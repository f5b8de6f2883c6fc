"""Records of a replay: what was decided in a recorded round, with what the recording knows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policyengine.check.replay import RoundReplay
from policyengine.compression.refetch import Refetch
from policyengine.log.fields import ROUND_KINDS
from policyengine.log.record import Recorder
from policyengine.sessions.model import Session

_SOURCES = {"usage": "usage", "estimate": "estimate", "counterfactual": "counterfactual"}


def records(
    row: RoundReplay, session: Session, recorder: Recorder, refetch: Refetch | None = None
) -> Iterator[dict[str, Any]]:
    """One record for each decision of the round.

    `refetch` is what was read again after the compaction that was recorded before this round, where there was one.
    """
    name = Path(session.path).stem
    turn = f"{name}/{row.round.turn}"
    where = {"session_id": name, "turn_id": turn, "prompt_id": turn, "round": row.round.index}
    facts = _facts(row, recorder)
    for made in row.made:
        kind = made.policy.kind.name
        about: dict[str, Any] = {**where, "tier": row.before.tier}
        if kind in ROUND_KINDS:
            about.update(facts)
        if kind in ("Routing", "Directives") and row.after is not None:
            about["user_prompt_classification"] = row.after.prompt_class
            about["signal_skip_llm_round"] = row.after.directive["directive"] == "skip"
            about["signal_result_is_terminal"] = row.after.directive.get("terminal")
        if kind == "CompactionGate" and row.before.compact:
            about["compaction_outcome"] = row.compaction_result
            about["compaction_input_tokens"] = row.tokens
            about["consecutive_failures"] = row.before.state.consecutive_failures
        if kind == "CompactionGate" and refetch is not None:
            about["refetched_files"] = len(refetch.files)
            about["refetched_tokens"] = refetch.tokens
        yield recorder.record(made, time_ms=row.round.timestamp_ms, **about)


def _facts(row: RoundReplay, recorder: Recorder) -> Mapping[str, Any]:
    """What the recording says about the round itself."""
    usage = row.round.usage
    return {
        "tier_actual": recorder.tier_of(row.round.model),
        "model_actual": row.round.model,
        "response": row.followed_by if row.round.output or row.round.calls else None,
        "tokens_source": _SOURCES.get(row.tokens_source, "unknown"),
        "prompt_tokens": row.actual_tokens,
        "cached_tokens": usage.cache_read if usage else None,
        "output_tokens": usage.output if usage else None,
        "total_rt_ms": row.round.duration_ms,
        "consecutive_failures": row.before.state.consecutive_failures,
    }
