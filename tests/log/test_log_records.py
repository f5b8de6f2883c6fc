"""What a record holds: every field that applies, every candidate rule, shadow outcomes."""

import json
from dataclasses import replace

import pytest

from policyengine.kinds.bundle import load
from policyengine.kinds.made import Made
from policyengine.log.record import Recorder
from policyengine.source.errors import InputError
from policyengine.source.schema import load_schema, validate_input

SPEC_FIELDS = (
    "turn_id prompt_id decision tier_requested tier_actual signal_skip_llm_round signal_result_is_terminal "
    "user_strategy veto_reason tool_count distinct_tool_count has_write_tool has_error has_cancel output_tokens_est "
    "user_prompt_classification fast_ttft_ms primary_ttft_ms fast_tokens_consumed tokens_source total_rt_ms "
    "fallback_triggered fallback_reason cached_tokens prompt_tokens prefix_changed tier forced consecutive_failures "
    "compaction_outcome compaction_input_tokens compaction_output_tokens bundle_digest engine_version policy "
    "policy_version rule rules input_digest shadow dropped trace session_id round monotonic_ms time "
)


def statuses(record):
    return {rule["id"]: rule["status"] for rule in record["rules"]}


def test_the_schema_has_every_field_of_the_specification():
    assert not set(SPEC_FIELDS.split()) - set(load_schema("record")["properties"])


def test_a_decision_becomes_a_record_that_fits_the_schema(bundle, made):
    record = Recorder(bundle).record(made("routing", trace=True), session_id="s", round=3, prompt_tokens=10)
    assert validate_input(record, load_schema("record")) == []
    assert record["bundle_digest"] == bundle.digest
    assert (record["session_id"], record["round"], record["prompt_tokens"]) == ("s", 3, 10)
    assert record["time"].endswith("+00:00")


@pytest.mark.parametrize("trace", [False, True], ids=["without trace", "with trace"])
@pytest.mark.parametrize(
    ("policy", "changes"),
    [
        ("routing", {}),
        ("routing", {"prompt": "fix the test"}),
        ("routing", {"strategy": "always_fast"}),
        ("routing", {"prompt": 3}),
        ("retired-settings", {}),
        ("breaker", {}),
        ("floor", {"tokens": 10**6}),
    ],
)
def test_every_candidate_rule_has_its_status_traced_or_not(bundle, made, policy, changes, trace):
    decided = made(policy, trace=trace, **changes)
    traced = made(policy, trace=True, **changes)
    record = Recorder(bundle).record(decided)
    assert [rule["id"] for rule in record["rules"]] == [rule.id for rule in decided.policy.table.rules]
    assert statuses(record) == {step.rule: step.status.value for step in traced.decision.trace}


def test_rules_after_the_first_hit_are_skipped_by_order(bundle, made):
    found = statuses(Recorder(bundle).record(made("routing", prompt="fix the test")))
    assert found["further_action"] == "matched"
    assert found["explicit_model"] == "false"
    assert found["deep_reasoning"] == "skipped"


def test_a_rule_that_used_up_its_steps_is_over_budget(bundle, made):
    decided = made("routing", trace=True)
    over = tuple(
        replace(step, error="the expression took more than 10 steps") if step.rule == "fast" else step
        for step in decided.decision.trace
    )
    decided = replace(decided, decision=replace(decided.decision, trace=over))
    assert statuses(Recorder(bundle).record(decided))["fast"] == "over_budget"


def test_an_error_is_recorded_without_its_value(bundle, made):
    record = Recorder(bundle).record(made("routing", prompt=["secret words"]))
    assert record["error_count"] == len(record["errors"]) == 1
    assert record["decision"] == "primary"
    assert "secret" not in json.dumps(record)


@pytest.mark.parametrize(
    "policy", ["routing", "directives", "compaction-gate", "compaction-result", "breaker", "floor"]
)
@pytest.mark.parametrize("given", [{}, {"secret words": "secret words"}, {"batch": 5, "strategy": "secret words"}])
def test_a_decision_on_an_input_that_does_not_fit_is_recorded(bundle, policy, given):
    asked = bundle.policy(policy)
    decided = Made(asked, given, asked.decide(given))
    record = Recorder(bundle).record(decided)
    assert validate_input(record, load_schema("record")) == []
    assert {error["where"] for error in record["errors"]} == {"input"}
    assert set(statuses(record).values()) == {"skipped"}
    assert "secret" not in json.dumps(
        {name: value for name, value in record.items() if name not in ("input", "masked")}
    )
    assert "secret" not in json.dumps(record["input"].get("strategy"))


def test_a_shadow_bundle_is_recorded_beside_and_changes_nothing(bundle, made, tmp_path):
    for file in bundle.path.glob("routing.yaml"):
        text = file.read_text(encoding="utf-8").replace("cross_result_calls: 3", "cross_result_calls: 1")
        (tmp_path / file.name).write_text(text, encoding="utf-8")
    for name in ("word-lists.yaml",):
        (tmp_path / name).write_text((bundle.path / name).read_text(encoding="utf-8"), encoding="utf-8")
    shadow = load(tmp_path)
    recorder = Recorder(bundle, shadow=shadow)
    record = recorder.record(made("routing"))
    assert record["decision"] == "fast"
    assert record["shadow"]["same"] is False
    assert record["shadow"]["outcome"]["veto_reason"] == "cross_result"
    assert record["shadow"]["bundle_digest"] == shadow.digest
    assert validate_input(record, load_schema("record")) == []
    assert "shadow" not in recorder.record(made("floor"))


def test_a_field_that_no_record_has_is_refused(bundle, made):
    with pytest.raises(InputError, match="session_id"):
        Recorder(bundle).record(made("floor"), sesion_id="s")


def test_older_and_newer_records_are_still_read(run, tmp_path, sample_log, lines):
    """Fields that are missing read as null, fields that are unknown are taken as they are."""
    records = lines(sample_log)
    for record in records:
        record["a_field_of_tomorrow"] = 1
        for name in ("seq", "chain", "masked", "mask_key", "response", "error_count"):
            record.pop(name, None)
    old = tmp_path / "old.jsonl"
    old.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    found = run("log", "stats", old, "--format", "json").json
    assert found["records"] == len(records)
    assert found["unreadable"] == 0
    assert found["metrics"]["fast_rate"]["n"] == run("log", "stats", sample_log, "--format", "json").json["metrics"][
        "fast_rate"]["n"]  # fmt: skip
    assert run("replay", old).status == 0
