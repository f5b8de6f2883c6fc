"""Nothing passes because nothing was tested."""

import shutil

import pytest

from tests.check.policy_tests.conftest import DATA


def errors(result):
    return [(f["code"], f["message"]) for f in result.json["findings"] if f["severity"] == "error"]


def test_a_bundle_without_tests_fails(light, run):
    result = run("test", "--bundle", light)
    assert result.status == 1
    assert "there is no test document here, so nothing was tested" in result.out


def test_a_path_without_tests_fails(good, run, tmp_path):
    policies = tmp_path / "other"
    policies.mkdir()
    shutil.copy(DATA / "light" / "light.yaml", policies)
    assert run("test", policies / "light.yaml", "--bundle", good).status == 1


def test_a_document_whose_cases_are_all_wrong_fails(light, write, run):
    write("policy: light\ncases:\n  - {name: a, input: {color: red, seconds: 1}, rule: wiat}\n")
    result = run("test", "--bundle", light)
    assert result.status == 1
    assert "0 cases" in result.out


@pytest.fixture
def one_case(light, write):
    return write("policy: light\ncases:\n  - {name: a, input: {color: green, seconds: 1}, rule: go}\n")


def test_a_rule_that_decides_in_no_case_fails_the_bundle(one_case, light, run):
    result = run("test", "--bundle", light, "--format", "json")
    assert result.status == 1
    assert errors(result) == [
        ("untested", "the rule `hurry` of `light` decides in no case"),
        ("untested", "the rule `wait` of `light` decides in no case"),
        ("untested", "no case tests the policy `meter`; its 2 rules are untested"),
    ]
    places = [(f["line"], f["column"]) for f in result.json["findings"]]
    assert places[:2] == [(18, 7), (22, 5)]


def test_a_rule_that_was_looked_at_and_never_decided_is_untested(light, write, run):
    write("policy: light\ncases:\n  - {name: a, input: {color: red, seconds: 1}, rule: wait}\n")
    result = run("test", "--bundle", light, "--format", "json")
    light_rules = next(one for one in result.json["coverage"]["policies"] if one["policy"] == "light")
    assert light_rules["untested"] == ["go", "hurry"]
    assert [(r["id"], r["matched"], r["seen_false"]) for r in light_rules["rules"]] == [
        ("go", 0, 1),
        ("hurry", 0, 1),
        ("wait", 1, 0),
        ("on_error", 0, 0),
    ]


@pytest.mark.parametrize(("least", "status"), [("0", 0), ("20", 0), ("20.1", 1), ("100", 1)])
def test_the_least_coverage_can_be_set(least, status, one_case, light, run):
    result = run("test", "--bundle", light, "--coverage", "--min", least)
    assert result.status == status
    assert "rules covered: 1 of 5 (20 %" in result.out
    assert "untested: hurry, wait" in result.out


def test_selected_tests_only_list_what_they_do_not_see(one_case, run):
    result = run("test", one_case)
    assert result.status == 0
    assert "rules that decide in none of these cases:\n  light: hurry, wait" in result.out
    assert run("test", one_case, "--coverage").status == 1


def test_tests_apart_from_their_bundle_can_be_asked_for_all_of_it(one_case, light, run):
    assert "meter" not in run("test", one_case, "--bundle", light).out
    result = run("test", one_case, "--bundle", light, "--coverage")
    assert result.status == 1
    assert "no case tests the policy `meter`" in result.out


def test_rules_that_were_never_seen_false_are_listed(one_case, light, run):
    result = run("test", one_case, "--coverage", "--min", "0")
    assert "never seen false: go, hurry" in result.out
    assert "on_error untested" in result.out


def test_a_default_without_id_has_to_decide_too(light, write, run):
    policy = light / "light.yaml"
    policy.write_text(policy.read_text(encoding="utf-8").replace("    id: wait\n", ""), encoding="utf-8")
    (light / "meter.yaml").unlink()
    rows = "columns: [color, seconds, rule]\n    rows: [[green, 1, go], [amber, 1, hurry]]\n"
    spec = f"policy: light\ncases:\n  - name: a\n    {rows}"
    write(spec)
    assert errors(run("test", "--bundle", light, "--format", "json")) == [
        ("untested", "the rule `default` of `light` decides in no case")
    ]
    write(spec.replace("]]", "], [red, 1, default]]"))
    assert run("test", "--bundle", light).status == 0
