"""`policyengine eval`: one decision, as a dry run."""

import json

import pytest

from policyengine.kinds.bundle import load

POLICIES = [policy.name for policy in load().policies.values()]


@pytest.mark.parametrize("name", POLICIES)
def test_the_example_of_every_policy_decides_without_error(run, name):
    found = run("eval", name, "--example", "--trace", "--format", "json").json
    assert found["policy"] == name
    assert found["errors"] == []
    assert found["decision"]
    assert found["trace"]


def test_an_input_from_a_file_and_from_stdin_with_changes(run, tmp_path):
    given = {"window": 200_000, "tokens": 1}
    path = tmp_path / "input.json"
    path.write_text(json.dumps(given))
    assert (
        run("eval", "floor", "--input", path, "--set", "tokens=150000", "--format", "json").json["decision"]["tier"]
        == "warn"
    )
    found = run("eval", "floor", "--input", "-", "--set", "tokens=170000", "--format", "json", input=json.dumps(given))
    assert found.json["decision"]["tier"] == "auto"


def test_the_trace_says_what_each_rule_saw(run):
    found = run("eval", "routing", "--example", "--set", "strategy=always_fast", "--trace", "--format", "json").json
    status = {step["rule"]: step["status"] for step in found["trace"]}
    assert status["explicit_model"] == "false"
    assert status["always_fast"] == "matched"
    assert status["further_action"] == "skipped"
    step = next(step for step in found["trace"] if step["rule"] == "always_fast")
    assert step["values"] == {"strategy": "always_fast"}


def test_a_part_of_a_condition_that_failed_is_shown_as_an_error_and_not_as_a_text(run, tmp_path):
    (tmp_path / "labels.yaml").write_text(
        """
apiVersion: policyengine/v1
kind: Table
metadata: {name: labels, version: 1.0.0}
spec:
  input:
    type: object
    properties:
      labels: {type: object, additionalProperties: {type: string}}
      name: {type: string}
    required: [labels, name]
  rules:
    - id: ours
      when: labels.team == "ours" && name == "bob"
      outcome: {mine: true}
  default: {outcome: {mine: false}}
  on_error: {mine: false}
""",
        encoding="utf-8",
    )
    given = ("labels", "--bundle", tmp_path, "--set", "labels={}", "--set", "name=no such key: 'team'", "--trace")
    log = tmp_path / "log.jsonl"
    found = run("eval", *given, "--log", log)
    assert found.status == 0
    assert "labels.team = error: no such key: 'team'\n" in found.out
    assert "name = \"no such key: 'team'\"" in found.out
    assert run("log", "check", log).status == 0
    (step,) = run("eval", *given, "--format", "json").json["trace"]
    assert step["values"]["labels.team"] == "no such key: 'team'"


def test_text_names_the_rule(run):
    found = run("eval", "routing", "--example", "--set", "prompt=修复这个测试")
    assert "decided by  further_action" in found.out
    assert found.status == 0


@pytest.mark.parametrize(
    ("args", "input", "pieces"),
    [
        (("flor", "--example"), None, ("flor", "floor")),
        (("floor", "--input", "missing.json"), None, ("missing.json",)),
        (("floor", "--input", "-"), "{", ("stdin", "1")),
        (("floor", "--input", "-"), "[1]", ("object",)),
        (("floor", "--input", "-"), '{"tokens": 1, "tokens": 2}', ("tokens",)),
        (("floor", "--example", "--set", "tokens"), None, ("PATH=VALUE",)),
        (("floor", "--example", "--set", "tokens=many"), None, ("tokens", "many")),
        (("floor", "--example", "--set", "tokes=1"), None, ("tokes", "tokens")),
        (("routing", "--example", "--set", "batch[7].kind=edit"), None, ("[7]",)),
        (("floor",), None, ("tokens",)),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, args, input, pieces):
    found = run("eval", *args, input=input)
    assert (found.status, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    for piece in pieces:
        assert piece in found.err


def test_missing_fields_name_the_way_to_a_full_input(run):
    found = run("eval", "routing", "--set", "prompt=fix it")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("policyengine: the input does not fit the policy: ")
    assert "turn_kind" in found.err
    assert found.err.endswith(" (and 10 more); `policyengine eval routing --example` shows a full input\n")
    shown = run("eval", "routing", "--example", "--set", "prompt=fix it").out.splitlines()[-1]
    given = json.loads(shown.removeprefix("  input "))
    assert given["prompt"] == "fix it"
    assert run("eval", "routing", "--input", "-", input=json.dumps(given)).status == 0
    assert "--example" not in run("eval", "routing", "--example", "--set", "tokens=1").err
    assert "--example" not in run("eval", "floor", "--set", "window=many", "--set", "tokens=1").err


def test_a_secret_in_a_bad_input_is_not_repeated(run):
    found = run("eval", "floor", "--example", "--set", "tokens=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
    assert found.status == 2
    assert "abcdefghijklmnop" not in found.err


def test_a_record_is_written_with_the_prompt_hashed(run, tmp_path):
    log = tmp_path / "log.jsonl"
    run("eval", "routing", "--example", "--set", "prompt=tell me about Ada Lovelace", "--log", log)
    text = log.read_text()
    assert "Lovelace" not in text
    assert json.loads(text)["input"]["prompt"].startswith("sha256:")


KEY = "sk-ant-api03-abcdefghijkl1234567890"


@pytest.mark.parametrize(
    "more",
    [("--input", f'{{"{KEY}": 1, "{KEY}": 2}}'), ("--input", f'{{"{KEY}" 1}}'), ("--set", f"use {KEY} " + "x" * 99)],
)
def test_a_key_in_the_wrong_place_is_not_repeated(run, tmp_path, more):
    option, value = more
    if option == "--input":
        (tmp_path / "input.json").write_text(value)
        value = tmp_path / "input.json"
    found = run("eval", "floor", option, value)
    assert found.status == 2
    assert "abcdefghijkl" not in found.err
    assert len(found.err) < 200 + len(str(tmp_path))


def test_what_is_no_json_number_is_text(run):
    found = run("eval", "floor", "--set", "window=200000", "--set", "tokens=NaN")
    assert found.status == 2
    assert "`tokens` is" in found.err


def test_a_key_in_a_field_that_may_be_shown_is_hashed_and_a_model_name_is_not(run, tmp_path):
    log = tmp_path / "log.jsonl"
    for model in ("sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "claude-haiku-4-5-20251001"):
        run("eval", "routing", "--example", "--set", f"explicit_model={model}", "--log", log)
    text = log.read_text()
    assert "abcdefghijklmnop" not in text
    assert "claude-haiku-4-5-20251001" in text
