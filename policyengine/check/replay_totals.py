"""What replays come to: routing, directives, what was read again, how close the estimate came, cache hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from policyengine.check.quantiles import quantile
from policyengine.check.replay import SessionReplay

_SHARES = {"p5": 0.05, "p50": 0.5, "p95": 0.95}


def routing_totals(replays: Iterable[SessionReplay]) -> dict[str, Any]:
    """Continuations, how they were routed, and what followed the fast ones."""
    continuations = fast = confirmed = 0
    vetoes: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for item in (row for one in replays for row in one.rounds if row.after):
        assert item.after is not None
        continuations += 1
        if item.after.routing["decision"] == "fast":
            fast += 1
            confirmed += item.routing_outcome == "confirmed"
        elif veto := item.after.routing.get("veto_reason"):
            vetoes[veto] += 1
        else:
            others[item.after.routing.get("reason") or "unknown"] += 1
    return {
        "continuations": continuations,
        "fast": fast,
        "primary": continuations - fast,
        "vetoes": dict(vetoes.most_common()),
        "without_veto": dict(others.most_common()),
        "fast_confirmed": confirmed,
        "fast_would_fall_back": fast - confirmed,
    }


def directive_totals(replays: Iterable[SessionReplay]) -> dict[str, int]:
    """Batches that a model round answered, and how many of those rounds could have been skipped.

    A skippable round that called tools again in the recording is one that a skip would have cut off.
    """
    answered = [row for one in replays for row in one.rounds if row.after]
    skippable = [row for row in answered if row.after and row.after.directive["directive"] == "skip"]
    return {
        "batches": len(answered),
        "skippable": len(skippable),
        "skippable_followed_by_tool_call": sum(1 for row in skippable if row.round.calls),
    }


def refetch_totals(replays: Iterable[SessionReplay]) -> dict[str, float | int | None]:
    """Files read or changed before recorded compactions, and what was read of them again after (tokens, estimated)."""
    found = [item for one in replays for item in one.refetches]
    known, files = sum(item.known for item in found), sum(len(item.files) for item in found)
    return {
        "compactions": len(found),
        "known_files": known,
        "refetched_files": files,
        "rate": files / known if known else None,
        "tokens": sum(item.tokens for item in found),
    }


def estimate_totals(one: SessionReplay) -> dict[str, float | int | None]:
    """How close the estimate came: estimated / reported prompt tokens, over rounds with a last usage."""
    ratios = [row.estimate_ratio for row in one.rounds if row.estimate_ratio is not None]
    return {"rounds": len(ratios), **{name: quantile(ratios, share) for name, share in _SHARES.items()}}


def cache_totals(one: SessionReplay) -> dict[str, float | None]:
    """Cache hit rate of a round: cached / prompt tokens, where the provider reports both."""
    rates = [
        row.round.usage.cache_read / row.actual_tokens
        for row in one.rounds
        if row.round.usage and row.round.usage.cache_read is not None and row.actual_tokens
    ]
    return {"p50": quantile(rates, 0.5), "p90": quantile(rates, 0.9)}
