"""Records of a replay: what was decided in a recorded round, with what the recording knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from policyengine.check.replay import RoundReplay
from policyengine.log.record import Recorder
from policyengine.sessions.model import Session

_SOURCES = {"usage": "usage", "estimate": "estimate", "counterfactual": "counterfactual"}


def records(row: RoundReplay, session: Session, recorder: Recorder) -> Iterator[dict[str, Any]]:
    """One record for each decision of the round."""
    name = Path(session.path).stem
    usage = row.round.usage
    about: dict[str, Any] = {
        "session_id": name,
        "turn_id": f"{name}/{row.round.turn}",
        "prompt_id": f"{name}/{row.round.turn}",
        "round": row.round.index,
        "tier": row.before.tier,
        "tokens_source": _SOURCES.get(row.tokens_source, "unknown"),
        "prompt_tokens": row.actual_tokens,
        "cached_tokens": usage.cache_read if usage else None,
        "total_rt_ms": row.round.duration_ms,
        "consecutive_failures": row.before.state.consecutive_failures,
    }
    for made in row.made:
        extra = dict(about)
        if made.policy.kind.name in ("Routing", "Directives") and row.after is not None:
            extra["user_prompt_classification"] = row.after.prompt_class
            extra["signal_skip_llm_round"] = row.after.directive["directive"] == "skip"
            extra["signal_result_is_terminal"] = row.after.directive.get("terminal")
        if made.policy.kind.name == "CompactionGate" and row.before.compact:
            extra["compaction_outcome"] = row.compaction_result
            extra["compaction_input_tokens"] = row.tokens
        yield recorder.record(made, time_ms=row.round.timestamp_ms, **extra)
