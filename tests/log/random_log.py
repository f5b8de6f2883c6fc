"""Random records with every field that a metric reads, and the metrics worked out in another way."""

import json
import random
from fractions import Fraction
from math import sqrt
from statistics import quantiles

from policyengine.log.chain import Chain, body

KINDS = ["Ladder", "Routing", "Directives", "PromptClass", "CompactionResult", "Tips", "Breaker", "TokenEstimate"]
VETOES = ["further_action", "write_tool", "would_compress", "cross_result"]


def random_records(seed, sessions, rounds=6):
    """Records of so many sessions, the kinds of a loop in every round."""
    dice = random.Random(seed)

    def maybe(value, share=0.8):
        return value if dice.random() < share else None

    for session in range(sessions):
        name = maybe(f'session "{session}" é', 0.95)
        for number in range(1, rounds + 1):
            tier = dice.choice(["fast", "primary", None])
            prompt = dice.randrange(1, 200_000)
            facts = {
                "tier_actual": tier,
                "response": maybe(dice.choice(["text", "tool_call"])),
                "prompt_tokens": maybe(prompt),
                "cached_tokens": maybe(dice.choice([0, dice.randrange(prompt + 1)])),
                "output_tokens": maybe(dice.randrange(3000)),
                "total_rt_ms": maybe(dice.randrange(100, 20_000)),
                "prefix_changed": dice.choice(["none", "memory", "model", None]),
                "half_written_texts": maybe(0 if dice.random() < 0.99 else 1, 0.5),
                "render_ms": maybe(dice.randrange(500), 0.3),
            }
            time = f"2026-03-{1 + session % 28:02d}T0{number}:00:00.{dice.randrange(1000):03d}+00:00"
            for kind in KINDS:
                record = {
                    "kind": kind, "policy": kind.lower(), "policy_version": "1.0.0", "time": maybe(time, 0.98),
                    "session_id": name, "turn_id": name and f"{name}/{number // 2}", "round": number,
                }  # fmt: skip
                if dice.random() < 0.01:
                    record = {"error_count": 1, **record, "errors": [{"where": "rule x", "message": "m"}]}
                if kind in ("Ladder", "Routing"):
                    record.update(facts)
                if kind == "Routing":
                    decision = dice.choice(["fast", "fast", "primary"])
                    fell_back = maybe(dice.random() < 0.15, 0.9) if decision == "fast" else maybe(False, 0.5)
                    record.update(
                        decision=decision,
                        veto_reason=None if decision == "fast" else maybe(dice.choice(VETOES)),
                        fallback_triggered=fell_back,
                        fallback_reason=dice.choice(["tool_call_seen", "timeout", "error"]) if fell_back else None,
                        fast_tokens_consumed=maybe(dice.randrange(5000)) if fell_back else None,
                    )
                elif kind == "Directives":
                    record["decision"] = maybe("skip", 0.4)
                elif kind == "PromptClass":
                    record["more_detail"] = dice.random() < 0.1
                    record["previous_decision"] = dice.choice(["skip", "fast", None])
                elif kind == "CompactionResult":
                    record["compaction_outcome"] = dice.choice(["accepted", "accepted", "truncated"])
                    record["compaction_rt_ms"] = maybe(dice.randrange(5000, 60_000))
                errors = record.pop("errors", [])
                record.update(
                    rules=[{"id": "a", "status": "matched"}],
                    outcome={"input": 1},
                    errors=errors,
                    input={},
                    source="runtime",
                )
                yield {key: value for key, value in record.items() if value is not None}


def write(path, records, lost=0):
    """As a sink writes them, with losses in between."""
    chain = Chain()
    with path.open("wb") as file:
        for number, record in enumerate(records):
            if lost and number % 97 == 5:
                chain.dropped += lost
            file.write(chain.line(body(record)) + b"\n")


def independent(path):
    """Every metric by the book: one plain pass a metric, other formulas for percentiles and intervals."""
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    routing = [row for row in rows if row["kind"] == "Routing"]
    fast = [row for row in routing if row["decision"] == "fast"]
    tried = [row for row in fast if "fallback_triggered" in row]
    fell = [row for row in tried if row["fallback_triggered"]]
    directives = [row for row in rows if row["kind"] == "Directives"]
    skips = [row for row in directives if row.get("decision") == "skip"]
    more = [r for r in rows if r["kind"] == "PromptClass" and r["more_detail"] and r.get("previous_decision") == "skip"]
    compactions = [row for row in rows if row["kind"] == "CompactionResult"]
    rounds = {}
    for row in rows:
        if row["kind"] in ("Ladder", "Routing"):
            key = (row["session_id"], row["round"]) if "session_id" in row else ("", row["seq"])
            one = rounds.setdefault(key, {})
            for name, value in row.items():
                one.setdefault(name, value)
            one["routed"] = one.get("routed", False) or row["kind"] == "Routing"
    rounds = list(rounds.values())

    def times(tier, wanted=lambda one: True):
        return [
            one["total_rt_ms"]
            for one in rounds
            if one["routed"] and one.get("tier_actual") == tier and one.get("response") == "text"
            and "total_rt_ms" in one and wanted(one)
        ]  # fmt: skip

    turns = {}
    for one in rounds:
        if "turn_id" in one and "total_rt_ms" in one:
            turns.setdefault(one["turn_id"], []).append(one["total_rt_ms"])
    turns = [sum(values) for values in turns.values()]
    cached = [one for one in rounds if "cached_tokens" in one and one.get("prompt_tokens")]
    primary = [one for one in rounds if one.get("tier_actual") == "primary"]
    half = [one["half_written_texts"] for one in rounds if "half_written_texts" in one]
    renders = [one["render_ms"] for one in rounds if "render_ms" in one]
    compacting = sum(row.get("veto_reason") == "would_compress" for row in routing)
    waits = [row["compaction_rt_ms"] for row in compactions if "compaction_rt_ms" in row]
    found = {
        "fast_rate": share(len(fast), len(routing)),
        "fallback_rate": share(len(fell), len(tried)),
        "tool_call_accuracy": share(
            len(tried) - sum(row["fallback_reason"] == "tool_call_seen" for row in fell), len(tried)
        ),
        "skip_rate": share(len(skips), len(directives)),
        "more_detail_rate": share(min(len(more), len(skips)), len(skips)),
        "wasted_fast_share": quotient(
            sum(row.get("fast_tokens_consumed", 0) for row in fell),
            sum(one.get("prompt_tokens", 0) + one.get("output_tokens", 0) for one in primary),
            len(primary),
        ),
        "half_written": (float(sum(half)) if half else None, len(half), None, None),
        "turn_ms_p50": percentile(turns, 50),
        "turn_ms_p95": percentile(turns, 95),
        "primary_ms_p50": percentile(times("primary"), 50),
        "primary_ms_p95": percentile(times("primary"), 95),
        "fast_ms_p50": percentile(times("fast"), 50),
        "fast_ms_p95": percentile(times("fast"), 95),
        "primary_cached_ms_p50": percentile(times("primary", lambda one: one.get("cached_tokens", 0) > 0), 50),
        "fast_uncached_ms_p50": percentile(times("fast", lambda one: one.get("cached_tokens") == 0), 50),
        "compact_share": share(compacting, compacting + len(fast)),
        "compaction_ms_p50": percentile(waits, 50),
        "cache_hit_rate": hits(cached),
        "cache_hit_p50": percentile([one["cached_tokens"] / one["prompt_tokens"] for one in cached], 50),
        "cache_hit_p90": percentile([one["cached_tokens"] / one["prompt_tokens"] for one in cached], 90),
        "cache_hit_after_memory": hits([one for one in cached if one.get("prefix_changed") == "memory"]),
        "cache_hit_after_model": hits([one for one in cached if one.get("prefix_changed") == "model"]),
        "compaction_failure_rate": share(
            sum(row["compaction_outcome"] != "accepted" for row in compactions), len(compactions)
        ),
        "render_ms_p50": percentile(renders, 50),
    }
    primary_ms, fast_ms, compact, wait = (
        found[name] for name in ("primary_ms_p50", "fast_ms_p50", "compact_share", "compaction_ms_p50")
    )
    saved = gain = None
    if primary_ms[1] and fast_ms[1]:
        saved = primary_ms[0] - fast_ms[0]
        if compact[1] and (wait[1] or not compacting):
            gain = (1 - compact[0]) * saved - (compact[0] * wait[0] if wait[1] else 0)
    n = min(primary_ms[1], fast_ms[1])
    found["saved_ms"] = (saved, n, None, None)
    found["net_gain_ms"] = (gain, min(n, compact[1]), None, None)
    return {
        "records": len(rows),
        "dropped": sum(row.get("dropped", 0) for row in rows),
        "errors": sum("errors" in row and bool(row["errors"]) for row in rows),
        "rounds": len(rounds),
        "days": len({one["time"][:10] for one in rounds if "time" in one}),
        "metrics": found,
    }


def share(cases, n):
    """A rate and the two rates for which it lies just at the end of the normal interval (that is Wilson's)."""
    if not n:
        return None, 0, None, None
    z, p = 1.959963984540054, cases / n
    a, b, c = 1 + z * z / n, -(2 * p + z * z / n), p * p
    root = sqrt(max(0.0, b * b - 4 * a * c))
    return p, n, (-b - root) / (2 * a), (-b + root) / (2 * a)


def quotient(above, below, n):
    return (float(Fraction(above, below)) if below else None), n, None, None


def hits(rounds):
    return quotient(
        sum(one["cached_tokens"] for one in rounds), sum(one["prompt_tokens"] for one in rounds), len(rounds)
    )  # fmt: skip


def percentile(values, number):
    if len(values) < 2:
        return (float(values[0]) if values else None), len(values), None, None
    exact = quantiles(map(Fraction, values), n=100, method="inclusive")[number - 1]
    return float(exact), len(values), None, None
