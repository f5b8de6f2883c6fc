"""Every metric, defined once: its name, its unit, its formula in words, and the formula.

`docs/metrics.md` lists them; a test holds the two together. Gates, checkpoints and stages see each by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from policyengine.log.metrics.statistics import Measure, percentile, rate, ratio
from policyengine.log.metrics.tally import RoundFacts, Tally

TOOL_CALL_SEEN = "tool_call_seen"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `unit` is `share`, `ms` or `count`."""

    name: str
    unit: str
    title: str
    formula: str
    of: Callable[[Tally], Measure]


def _fast(tally: Tally) -> int:
    return sum(number for (decision, _), number in tally.routed.items() if decision == "fast")


def _continuations(tally: Tally) -> int:
    return sum(tally.routed.values())


def _fallbacks(tally: Tally) -> int:
    return sum(tally.fallbacks.values())


def _rounds(tally: Tally, tier: str | None = None) -> Iterator[RoundFacts]:
    return (one for one in tally.rounds if tier is None or one.tier_actual == tier)


def _summary_ms(tally: Tally, tier: str, wanted: Callable[[RoundFacts], bool] = lambda _: True) -> list[int]:
    """Times of the rounds that answered a batch with a text."""
    return [
        one.total_rt_ms
        for one in _rounds(tally, tier)
        if one.total_rt_ms is not None and one.continuation and one.response == "text" and wanted(one)
    ]


def _turn_ms(tally: Tally) -> list[int]:
    turns: dict[str, int] = {}
    for one in tally.rounds:
        if one.turn_id is not None and one.total_rt_ms is not None:
            turns[one.turn_id] = turns.get(one.turn_id, 0) + one.total_rt_ms
    return list(turns.values())


def _cached(tally: Tally, prefix: str | None = None) -> list[tuple[int, int]]:
    return [
        (one.cached_tokens, one.prompt_tokens)
        for one in tally.rounds
        if one.cached_tokens is not None and one.prompt_tokens and (prefix is None or one.prefix_changed == prefix)
    ]


def _cache_rate(tally: Tally, prefix: str | None = None) -> Measure:
    pairs = _cached(tally, prefix)
    return ratio(sum(cached for cached, _ in pairs), sum(prompt for _, prompt in pairs), len(pairs))


def _wasted(tally: Tally) -> Measure:
    rounds = list(_rounds(tally, "primary"))
    spent = sum((one.prompt_tokens or 0) + (one.output_tokens or 0) for one in rounds)
    return ratio(tally.wasted_tokens, spent, len(rounds))


def _compact_share(tally: Tally) -> Measure:
    stopped = sum(number for (_, veto), number in tally.routed.items() if veto == "would_compress")
    return rate(stopped, stopped + _fast(tally))


def _saved(tally: Tally) -> Measure:
    primary = percentile(_summary_ms(tally, "primary"), 50)
    fast = percentile(_summary_ms(tally, "fast"), 50)
    n = min(primary.n, fast.n)
    return Measure(None if primary.value is None or fast.value is None else primary.value - fast.value, n)


def _net_gain(tally: Tally) -> Measure:
    saved, compact = _saved(tally), _compact_share(tally)
    compaction = percentile(tally.compaction_ms, 50)
    if saved.value is None or compact.value is None or (compact.value > 0 and compaction.value is None):
        return Measure(None, min(saved.n, compact.n))
    lost = compact.value * compaction.value if compaction.value is not None else 0.0
    return Measure((1 - compact.value) * saved.value - lost, min(saved.n, compact.n))


def _half_written(tally: Tally) -> Measure:
    said = [one.half_written_texts for one in tally.rounds if one.half_written_texts is not None]
    return Measure(float(sum(said)) if said else None, len(said))


def _render(tally: Tally) -> list[int]:
    return [one.render_ms for one in tally.rounds if one.render_ms is not None]


METRICS: tuple[Metric, ...] = (
    Metric("fast_rate", "share", "Fast rate",
           "Routing records that decided fast / Routing records",
           lambda t: rate(_fast(t), _continuations(t))),
    Metric("fallback_rate", "share", "Fallback rate",
           "fast continuations with fallback_triggered true / those with fallback_triggered true or false",
           lambda t: rate(_fallbacks(t), t.tried)),
    Metric("tool_call_accuracy", "share", "Tool-call accuracy on fast rounds",
           "1 - fast continuations that fell back with tool_call_seen / those with fallback_triggered true or false",
           lambda t: rate(t.tried - t.fallbacks[TOOL_CALL_SEEN], t.tried)),
    Metric("skip_rate", "share", "Skip rate",
           "Directives records that decided skip / Directives records",
           lambda t: rate(t.skips, t.of_kind("Directives"))),
    Metric("more_detail_rate", "share", "More detail asked for after a skip",
           "PromptClass records with more_detail whose previous_decision is skip / skips",
           lambda t: rate(min(t.more_detail["skip"], t.skips), t.skips)),
    Metric("wasted_fast_share", "share", "Wasted fast tokens",
           "fast_tokens_consumed of fallen back fast continuations / (prompt_tokens + output_tokens) of primary rounds",
           _wasted),
    Metric("half_written", "count", "Half-written texts in the history",
           "sum of half_written_texts over rounds that report it",
           _half_written),
    Metric("turn_ms_p50", "ms", "Turn time, P50",
           "P50 over turns of the sum of total_rt_ms of the turn's rounds",
           lambda t: percentile(_turn_ms(t), 50)),
    Metric("turn_ms_p95", "ms", "Turn time, P95",
           "P95 over turns of the sum of total_rt_ms of the turn's rounds",
           lambda t: percentile(_turn_ms(t), 95)),
    Metric("primary_ms_p50", "ms", "Summary round on primary, P50",
           "P50 of total_rt_ms over continuations that primary answered with a text",
           lambda t: percentile(_summary_ms(t, "primary"), 50)),
    Metric("primary_ms_p95", "ms", "Summary round on primary, P95",
           "P95 of total_rt_ms over continuations that primary answered with a text",
           lambda t: percentile(_summary_ms(t, "primary"), 95)),
    Metric("fast_ms_p50", "ms", "Summary round on fast, P50",
           "P50 of total_rt_ms over continuations that fast answered with a text",
           lambda t: percentile(_summary_ms(t, "fast"), 50)),
    Metric("fast_ms_p95", "ms", "Summary round on fast, P95",
           "P95 of total_rt_ms over continuations that fast answered with a text",
           lambda t: percentile(_summary_ms(t, "fast"), 95)),
    Metric("primary_cached_ms_p50", "ms", "Summary round on primary with its cache, P50",
           "P50 of total_rt_ms over continuations that primary answered with a text, cached_tokens > 0",
           lambda t: percentile(_summary_ms(t, "primary", lambda one: bool(one.cached_tokens)), 50)),
    Metric("fast_uncached_ms_p50", "ms", "Summary round on fast without a cache, P50",
           "P50 of total_rt_ms over continuations that fast answered with a text, cached_tokens = 0",
           lambda t: percentile(_summary_ms(t, "fast", lambda one: one.cached_tokens == 0), 50)),
    Metric("saved_ms", "ms", "Saved by the fast model (ΔRT)",
           "primary_ms_p50 - fast_ms_p50",
           _saved),
    Metric("compact_share", "share", "Share of fast rounds that would compact (P_compact)",
           "Routing records with veto would_compress / (those + Routing records that decided fast)",
           _compact_share),
    Metric("compaction_ms_p50", "ms", "Compaction call, P50",
           "P50 of compaction_rt_ms over CompactionResult records",
           lambda t: percentile(t.compaction_ms, 50)),
    Metric("net_gain_ms", "ms", "Net gain of fast routing",
           "(1 - compact_share) * saved_ms - compact_share * compaction_ms_p50",
           _net_gain),
    Metric("cache_hit_rate", "share", "Cache hit rate",
           "sum of cached_tokens / sum of prompt_tokens over rounds that report both",
           _cache_rate),
    Metric("cache_hit_p50", "share", "Cache hit rate of a round, P50",
           "P50 of cached_tokens / prompt_tokens over rounds that report both",
           lambda t: percentile((cached / prompt for cached, prompt in _cached(t)), 50)),
    Metric("cache_hit_p90", "share", "Cache hit rate of a round, P90",
           "P90 of cached_tokens / prompt_tokens over rounds that report both",
           lambda t: percentile((cached / prompt for cached, prompt in _cached(t)), 90)),
    Metric("cache_hit_after_memory", "share", "Cache hit rate after a memory write",
           "cache_hit_rate over rounds with prefix_changed = memory",
           lambda t: _cache_rate(t, "memory")),
    Metric("cache_hit_after_model", "share", "Cache hit rate after a model switch",
           "cache_hit_rate over rounds with prefix_changed = model",
           lambda t: _cache_rate(t, "model")),
    Metric("compaction_failure_rate", "share", "Failed compactions",
           "CompactionResult records not accepted / CompactionResult records",
           lambda t: rate(sum(t.compactions.values()) - t.compactions["accepted"], sum(t.compactions.values()))),
    Metric("render_ms_p50", "ms", "Rendering a summary, P50",
           "P50 of render_ms over rounds that report it",
           lambda t: percentile(_render(t), 50)),
)  # fmt: skip

BY_NAME = {metric.name: metric for metric in METRICS}


def measures(tally: Tally) -> dict[str, Measure]:
    """Every metric of a tally."""
    return {metric.name: metric.of(tally) for metric in METRICS}


def vetoes(tally: Tally) -> dict[str, Measure]:
    """The share of each veto: Routing records with it / Routing records that decided primary by a veto."""
    counts = {veto: number for (_, veto), number in tally.routed.items() if veto is not None}
    total = sum(counts.values())
    return {veto: rate(number, total) for veto, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))}
