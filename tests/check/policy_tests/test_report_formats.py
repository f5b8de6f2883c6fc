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


def test_github_annotates_the_place_of_a_failing_case(failing, run, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = run("test", "--bundle", failing, "--format", "github")
    assert result.status == 1
    annotation, counts = result.out.splitlines()
    assert annotation.startswith("::error file=")
    assert "some.test.yaml,line=7,endLine=7,col=7," in annotation
    said = 'light: <a> & \ufffd: expected rule: ["go"]; actual rule: ["wait"]; decided by wait'
    assert annotation.endswith(f"title=policyengine failed::{said}")
    assert counts.startswith("9 cases in 2 documents: 8 passed, 1 failed")
    written = summary.read_text(encoding="utf-8")
    assert written.startswith("### policyengine test\n\n1 error.\n")
    assert "some.test.yaml:7:7 | light: \\<a\\>" in written


def test_github_lists_what_is_not_annotated_where_there_is_no_summary(light, write, run):
    rows = ", ".join(f"[{number}, go]" for number in range(12))
    write(f"policy: light\ncases:\n  - {{name: a, set: {{color: red}}, columns: [seconds, rule], rows: [{rows}]}}\n")
    lines = run("test", light / "some.test.yaml", "--format", "github").out.splitlines()
    assert sum(line.startswith("::error") for line in lines) == 10
    assert lines[10] == "2 more; the job summary lists all 12"
    assert sum("error[failed]: light: a [" in line for line in lines) == 2


def test_github_of_passing_tests_says_so(good, run):
    result = run("test", "--bundle", good, "--format", "github")
    assert result.status == 0
    assert result.out.splitlines()[0] == "No findings."
