"""The default bundle passes its own tests, all of its rules are tested, and the tests notice every mutant."""

import pytest

NUMBERS = (1, 2, 4, 5, 8, 9, 11, 12, 15, 16, 19, 20, 21, 22, 24, 25, 26, 27, 28, 33, 36)
ROWS = [f"C{number}" for number in NUMBERS]
"""Rows of known faults that a policy decides; C30 to C32 are in tests/kinds/data/usage.yaml."""


@pytest.fixture(scope="module")
def report():
    import json

    from policyengine.check.policy_tests import Request, run
    from policyengine.check.policy_tests.render_json import render_json
    from policyengine.source.resources import policies_folder

    return json.loads(render_json([run(Request(bundle=policies_folder(), show_coverage=True))]))


def test_every_case_passes_and_every_rule_is_tested(report):
    failed = [case["name"] for case in report["cases"] if not case["passed"]]
    assert (failed, report["findings"]) == ([], [])
    assert report["coverage"]["percent"] == 100


def test_every_rule_with_a_condition_has_been_seen_false(report):
    assert [(one["policy"], one["never_false"]) for one in report["coverage"]["policies"] if one["never_false"]] == []


def test_every_row_of_known_faults_is_a_case(report):
    said = {word.rstrip(",") for case in report["cases"] for word in case["name"].split()}
    assert [row for row in ROWS if row not in said] == []


@pytest.mark.parametrize("name", ["breaker", "compaction-gate", "compaction-result", "routing", "tips"])
def test_the_tests_of_a_policy_notice_its_mutants(name, run):
    result = run("test", f"policies/{name}.test.yaml", "--mutate")
    assert result.status == 0, result.out


@pytest.mark.soak
def test_the_tests_notice_every_mutant(run):
    result = run("test", "--mutate")
    assert result.status == 0, result.out
