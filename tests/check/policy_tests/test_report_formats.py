"""Reports for programs: JSON and JUnit."""

from xml.etree import ElementTree

import pytest


@pytest.fixture
def failing(good, write):
    write('policy: light\ncases:\n  - {name: "<a> & \\u0007", input: {color: red, seconds: 1}, rule: go}\n')
    return good


def test_json_says_what_failed_and_why(failing, run):
    report = run("test", "--bundle", failing, "--format", "json").json
    assert report["bundle"] == {"name": "light", "version": "0.0.0"}
    assert report["passed"] is False
    assert report["counts"] == {"documents": 2, "cases": 9, "passed": 8, "failed": 1}
    (failed,) = [case for case in report["cases"] if not case["passed"]]
    assert (failed["policy"], failed["line"], failed["column"]) == ("light", 7, 7)
    assert failed["mismatches"] == [{"field": "rule", "expected": ["go"], "actual": ["wait"]}]
    assert [(step["rule"], step["status"]) for step in failed["trace"]] == [
        ("go", "false"),
        ("hurry", "false"),
        ("wait", "matched"),
    ]
    assert report["coverage"]["percent"] == 100
    assert report["mutants"] is None


def test_junit_is_xml_with_one_test_case_a_case(failing, run):
    result = run("test", "--bundle", failing, "--format", "junit")
    assert result.status == 1
    root = ElementTree.fromstring(result.out)
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "9", "1", "0")
    assert sorted(suite.get("tests") for suite in root) == ["1", "8"]
    (failure,) = root.iter("failure")
    assert "expected  rule" in failure.get("message")
    assert "matched  wait" in failure.text
    names = [case.get("name") for case in root.iter("testcase")]
    assert "<a> & \\u0007" in names
    assert "colours [amber, 2]" in names


def test_junit_holds_findings_and_untested_rules(light, write, run):
    write("policy: light\ncases:\n  - {name: a, input: {color: red, seconds: 1}, rule: wait}\n")
    root = ElementTree.fromstring(run("test", "--bundle", light, "--format", "junit").out)
    assert [case.get("classname") for case in root.iter("testcase")] == ["light", *["untested"] * 3]
    assert root.get("errors") == "3"
    assert len(list(root.iter("error"))) == 3


def test_junit_of_passing_tests_has_no_failure(good, run):
    result = run("test", "--bundle", good, "--format", "junit")
    root = ElementTree.fromstring(result.out)
    assert result.status == 0
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("8", "0", "0")
