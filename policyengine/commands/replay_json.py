"""The JSON of `policyengine replay`, documented in docs/replay.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policyengine.check.replay import RoundReplay, SessionReplay
from policyengine.check.replay_totals import (
    cache_totals,
    directive_totals,
    estimate_totals,
    refetch_totals,
    routing_totals,
)
from policyengine.compression.refetch import Refetch


def as_json(replays: Sequence[SessionReplay]) -> dict[str, Any]:
    """The whole document."""
    return {
        "sessions": [session_json(one) for one in replays],
        "routing": routing_totals(replays),
        "directives": directive_totals(replays),
        "refetch": refetch_totals(replays),
    }


def session_json(one: SessionReplay) -> dict[str, Any]:
    """One session."""
    session = one.session
    windows = [row.window for row in one.rounds if row.window is not None]
    return {
        "path": session.path,
        "format": session.format,
        "model": session.model,
        "window": windows[0] if windows else session.window,
        "window_origin": one.rounds[0].window_origin if one.rounds else session.window_origin,
        "turns": len(session.turns),
        "rounds": [round_json(row) for row in one.rounds],
        "compactions": [
            {
                "round": row.round.index,
                "tokens": row.tokens,
                "tier": row.before.tier,
                "recorded": row.compaction_recorded,
                "result": row.compaction_result,
            }
            for row in one.compactions
        ],
        "recorded_compactions": [
            {"round": item.round, "trigger": item.trigger, "tokens": item.tokens}
            for item in session.recorded_compactions
        ],
        "refetch": [refetch_json(item) for item in one.refetches],
        "estimate": estimate_totals(one),
        "cache": cache_totals(one),
        "skipped_lines": sum(session.skipped.values()),
        "skipped": dict(session.skipped),
        "noted": dict(session.noted),
        "unlisted_tools": dict(one.unlisted),
    }


def refetch_json(item: Refetch) -> dict[str, Any]:
    """What was read again after one recorded compaction. Tokens are estimated."""
    return {
        "round": item.round,
        "known_files": item.known,
        "reads_after": item.reads_after,
        "refetched_files": len(item.files),
        "rate": item.rate,
        "share_of_reads": item.share,
        "repeat_share_before": item.repeat_share,
        "changed_before": item.changed,
        "edited_after": item.edited,
        "named_in_summary": item.named,
        "tokens": item.tokens,
        "tool_output_tokens_after": item.output_tokens,
        "rounds_after": item.rounds,
        "estimates": [
            {
                "way": row.way,
                "named": row.named,
                "in_kept": row.in_kept,
                "fetch_tokens": row.fetch_tokens,
                "search_tokens": row.search_tokens,
                "carried_tokens": row.carried,
            }
            for row in item.estimates
        ],
    }


def round_json(row: RoundReplay, whole: bool = False) -> dict[str, Any]:
    """One round; `whole` adds every decision with its input and trace."""
    found: dict[str, Any] = {
        "round": row.round.index,
        "turn": row.round.turn,
        "context": row.round.context,
        "model": row.round.model,
        "window": row.window,
        "tokens": row.tokens,
        "tokens_source": row.tokens_source,
        "actual_tokens": row.actual_tokens,
        "tier": row.before.tier,
        "tokens_left": row.before.ladder["tokens_left"],
        "breaker": row.before.breaker,
        "compaction": {
            "decided": row.before.compact,
            "forced": row.before.forced,
            "reason": row.before.reason,
        },
        "tip": row.before.tip["tip"],
        "routing": None,
        "directive": None,
    }
    if row.after is not None:
        found["routing"] = {
            "decision": row.after.routing["decision"],
            "veto_reason": row.after.routing.get("veto_reason"),
            "outcome": row.routing_outcome,
            "reason": row.after.routing["reason"],
            "followed_by": row.followed_by,
        }
        found["directive"] = row.after.directive["directive"]
    if whole:
        found["decisions"] = [
            {
                "policy": made.decision.policy,
                "version": made.decision.version,
                "decision": made.decision.outcome,
                "rules": list(made.decision.rules),
                "errors": [{"where": e.where, "message": e.message} for e in made.decision.errors],
                "input": made.input,
                "trace": [
                    {
                        "rule": s.rule,
                        "status": s.status.value,
                        "when": s.when,
                        "values": s.values,
                        "error": s.error,
                    }
                    for s in made.decision.trace
                ],
            }
            for made in row.made
        ]
    return found
