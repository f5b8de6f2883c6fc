"""Gates, checkpoints, stages and the baseline, asked about logs: verdict, exit status, numbers, intervals."""

import pytest
from random_log import write


def continuation(number, *, fast, ms, fell_back=False, **more):
    """The routing record of a round that answered a batch with a text."""
    day = 1 + number % 9
    return {
        "kind": "Routing", "policy": "routing", "policy_version": "1.0.0",
        "time": f"2026-03-{day:02d}T00:00:00.000+00:00",
        "session_id": "fast" if fast else "primary", "turn_id": f"{fast}/{number}", "round": number + 1,
        "decision": "fast" if fast else "primary", "tier_actual": "fast" if fast and not fell_back else "primary",
        "response": "text", "prompt_tokens": 1000, "cached_tokens": 0 if fast else 900, "total_rt_ms": ms,
        "fallback_triggered": fell_back, "fallback_reason": "tool_call_seen" if fell_back else None,
        "half_written_texts": 0, "source": "runtime", "rules": [], **more,
    }  # fmt: skip


def rounds(fast=0, primary=0, fast_ms=1000, primary_ms=4000, fallbacks=0, **more):
    found = [continuation(n, fast=True, ms=fast_ms, fell_back=n < fallbacks, **more) for n in range(fast)]
    return found + [continuation(n, fast=False, ms=primary_ms, **more) for n in range(primary)]


MODELS = ("--primary-model", "claude-opus-5-5", "--fast-model", "claude-haiku-5-5")
STRANGERS = ("--primary-model", "gpt-6-sol", "--fast-model", "claude-haiku-5-5")


@pytest.fixture
def ask(run, tmp_path):
    def gate(records, *args, command="gate"):
        path = tmp_path / "log.jsonl"
        write(path, [{k: v for k, v in record.items() if v is not None} for record in records])
        return run(command, *args, "--log", path, "--format", "json")

    return gate


@pytest.mark.parametrize(
    ("records", "args", "status", "reason"),
    [
        (rounds(10, 10), ("kill-switch",), 3, "too_little_data"),
        (rounds(100, 10, fallbacks=19), ("kill-switch",), 0, "healthy"),
        (rounds(100, 10, fallbacks=21), ("kill-switch",), 1, "too_many_fallbacks"),
        (rounds(100, 10, fallbacks=1), ("quality",), 0, "within_bounds"),
        (rounds(100, 10, fallbacks=3), ("quality",), 1, "tool_calls"),
        (rounds(20, 10), ("quality",), 3, "too_few_fast_rounds"),
        (rounds(3, half_written_texts=1), ("quality",), 1, "half_written"),
        (rounds(10, 90), ("cache-hit-rate",), 0, "near_ceiling"),
        (rounds(50, 50), ("cache-hit-rate",), 1, "some_rounds_miss"),
        (rounds(90, 10), ("cache-hit-rate",), 1, "prefix_breaks"),
        (rounds(0, 2), ("cache-hit-rate",), 3, "too_few_days"),
        (rounds(120, 120), ("activation", *MODELS), 0, "faster"),
        (rounds(120, 120), ("activation",), 3, "models_unknown"),
        (rounds(99, 120), ("activation", *MODELS), 3, "too_few_rounds"),
        (rounds(120, 120, fast_ms=2100), ("activation", *MODELS), 1, "median_too_slow"),
        (rounds(120, 120), ("activation", *STRANGERS), 1, "models_differ"),
        (rounds(120, 120), ("rollout",), 0, "to_opt_in"),
        (rounds(120, 120), ("rollout", "--stage", "opt_in", "--stage-days", "15"), 0, "to_default_on"),
        (rounds(120, 120), ("rollout", "--stage", "opt_in", "--stage-days", "3"), 3, "opt_in_too_short"),
        (rounds(120, 120, fallbacks=30), ("rollout", "--stage", "default_on", "--stage-days", "99"), 1, "broken"),
    ],
)  # fmt: skip
def test_the_verdict_and_its_exit_status(ask, records, args, status, reason):
    found = ask(records, *args)
    assert (found.status, found.json["outcome"].get("reason")) == (status, reason)
    assert found.json["verdict"] == {0: "pass", 1: "fail", 3: "not_enough_data"}[status]


def test_the_text_has_numbers_sample_sizes_and_the_interval(run, tmp_path):
    path = tmp_path / "log.jsonl"
    write(path, [{k: v for k, v in r.items() if v is not None} for r in rounds(100, 10, fallbacks=21)])
    found = run("gate", "kill-switch", "--log", path)
    assert found.out.startswith("kill-switch 1.0.0: fail (too_many_fallbacks)\n")
    (line,) = [line for line in found.out.splitlines() if line.startswith("fallback_rate ")]
    assert line.split() == ["fallback_rate", "21.0%", "100", "14.2%", "to", "30.0%", "Fallback", "rate"]


def test_the_baseline_measures_and_is_compared_with_later(run, ask, tmp_path):
    kept = tmp_path / "baseline.json"
    found = ask(rounds(120, 120), *MODELS, "-o", kept, command="baseline")
    assert found.status == 0
    numbers = found.json["numbers"]
    assert (numbers["primary_ms_p50"]["value"], numbers["fast_ms_p95"]["value"]) == (4000, 1000)
    assert (numbers["saved_ms"]["value"], numbers["net_gain_ms"]["value"]) == (3000, 3000)
    later = ask(rounds(0, 120, primary_ms=1000), "total-saved", "--baseline", kept)
    assert later.json["numbers"]["turn_saved_ms"]["value"] == 1500
    assert (later.status, later.json["outcome"]["reason"]) == (1, "little")
    assert ask(rounds(120, 120), "total-saved").status == 3


def test_compactions_count_against_the_net_gain(ask):
    stopped = [
        {**record, "veto_reason": "would_compress"} if n < 40 else record
        for n, record in enumerate(rounds(0, 120))
    ]  # fmt: skip
    compaction = {
        "kind": "CompactionResult", "policy": "compaction-result", "policy_version": "1.0.0", "source": "runtime",
        "compaction_outcome": "accepted", "compaction_rt_ms": 30_000, "rules": [],
    }  # fmt: skip
    found = ask([*rounds(120), *stopped, compaction], "activation", *MODELS)
    # P = 40 / (40 + 120); (1 - P) * 3000 - P * 30000
    assert found.json["numbers"]["net_gain_ms"]["value"] == 0.75 * 3000 - 0.25 * 30_000
    assert found.json["outcome"]["reason"] == "no_net_gain"


def test_what_cannot_be_asked_is_one_line(run, sample_log, tmp_path):
    other = tmp_path / "other.json"
    other.write_text("{}")
    for args, piece in (
        (("rolout", "--log", sample_log), "did you mean `rollout`"),
        (("routing", "--log", sample_log), "has no gate `routing`"),
        (("rollout", "--log", tmp_path / "none.jsonl"), "no such file"),
        (("total-saved", "--log", sample_log, "--baseline", other), "is no baseline"),
        (("rollout", "--log", sample_log, "--since", "soon"), "is no time"),
    ):
        found = run("gate", *args)
        assert found.status == 2
        assert len(found.err.splitlines()) == 1
        assert piece in found.err
