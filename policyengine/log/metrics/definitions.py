"""Every metric, defined once: its name, its unit, its formula in words, and the formula.

`docs/metrics.md` lists them; a test holds the two together. Gates, checkpoints and stages see each by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policyengine.log.metrics.statistics import Measure, percentile, rate, ratio
from policyengine.log.metrics.tally import Tally

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


def _summary_ms(tally: Tally, tier: str, wanted: Callable[[int | None], bool] | None = None) -> list[float]:
    """Times of the rounds that answered a batch with a text; only those whose cached tokens are `wanted`."""
    times = tally.rounds.summaries.get(tier, [])
    return [taken for taken, cached in times if wanted is None or wanted(cached)]


def _cache_rate(tally: Tally, prefix: str | None = None) -> Measure:
    rounds = tally.rounds
    pairs = [
        (cached, prompt)
        for cached, prompt, changed in zip(
            rounds.cached_tokens, rounds.prompt_tokens, rounds.prefix_changed, strict=True
        )
        if prompt and cached is not None and (prefix is None or prefix == changed)
    ]
    return ratio(sum([cached for cached, _ in pairs]), sum([prompt for _, prompt in pairs]), len(pairs))


def _wasted(tally: Tally) -> Measure:
    rounds = tally.rounds
    spent = [
        (prompt or 0) + (output or 0)
        for tier, prompt, output in zip(rounds.tier_actual, rounds.prompt_tokens, rounds.output_tokens, strict=True)
        if tier == "primary"
    ]
    return ratio(tally.wasted_tokens, sum(spent), len(spent))


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
    said = [number for number in tally.rounds.half_written_texts if number is not None]
    return Measure(float(sum(said)) if said else None, len(said))


def _render_ms(tally: Tally) -> list[float]:
    return [taken for taken in tally.rounds.render_ms if taken is not None]


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
           lambda t: rate(t.skips, t.kinds["Directives"])),
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
           lambda t: percentile(t.rounds.turn_ms, 50)),
    Metric("turn_ms_p95", "ms", "Turn time, P95",
           "P95 over turns of the sum of total_rt_ms of the turn's rounds",
           lambda t: percentile(t.rounds.turn_ms, 95)),
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
           lambda t: percentile(_summary_ms(t, "primary", bool), 50)),
    Metric("fast_uncached_ms_p50", "ms", "Summary round on fast without a cache, P50",
           "P50 of total_rt_ms over continuations that fast answered with a text, cached_tokens = 0",
           lambda t: percentile(_summary_ms(t, "fast", lambda cached: cached == 0), 50)),
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
           lambda t: percentile(t.rounds.cached_shares, 50)),
    Metric("cache_hit_p90", "share", "Cache hit rate of a round, P90",
           "P90 of cached_tokens / prompt_tokens over rounds that report both",
           lambda t: percentile(t.rounds.cached_shares, 90)),
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
           lambda t: percentile(_render_ms(t), 50)),
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
