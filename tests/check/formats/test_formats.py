"""Each format is what its readers take."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from jsonschema import Draft4Validator

from policyengine.check.formats import github, gitlab, junit, sarif
from policyengine.check.formats.registry import FORMATS, render
from policyengine.check.formats.results import Results
from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.lint.registry import RULES
from policyengine.source.finding import Edit, Finding, Fix, Severity
from policyengine.source.place import Place

# From the sdist of sarif-om 1.0.4 (MIT, Microsoft): the schema that the OASIS committee published for SARIF 2.1.0.
SARIF_SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-2.1.0-rtm.4.json").read_text())
CASES = Path(__file__).parents[1] / "lint" / "cases"

AWKWARD = Finding(
    "word-case",
    Severity.ERROR,
    "50 % of <this>: a, b | c\x1b[31m\x00 “末尾”",
    Place("po licies/a,b:%.yaml", 3, 7, 3, 11),
    "do\nnot",
    Fix("write `x`", (Edit(Place("po licies/a,b:%.yaml", 3, 7, 3, 11), "x"),), safe=False),
)


def results(findings, texts=None):
    return Results(tuple(findings), texts or {}, RULES, "0.1.0")


@pytest.fixture(scope="module")
def everything():
    """What lint says about every bad case."""
    reports = [lint(folder / "bad.yaml", Config()) for folder in CASES.iterdir() if (folder / "bad.yaml").exists()]
    findings = [finding for report in reports for finding in report.findings]
    texts = {file: text for report in reports for file, text in report.texts.items()}
    return results([*findings, AWKWARD], texts)


def test_every_format_renders_nothing_and_something(everything):
    for form in FORMATS:
        assert render(results([]), form)
        assert render(everything, form)


def test_sarif_is_valid_and_complete(everything):
    data = json.loads(sarif.render(everything))
    assert not [error.message for error in Draft4Validator(SARIF_SCHEMA).iter_errors(data)]
    (run,) = data["runs"]
    assert len(run["results"]) == len(everything.ordered)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result, finding in zip(run["results"], everything.ordered, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == finding.code
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (region["startLine"], region["startColumn"]) == (finding.place.line, finding.place.column)
        assert ("fixes" in result) == (finding.fix is not None)
    marks = [result["partialFingerprints"]["policyengine/v1"] for result in run["results"]]
    assert len(set(marks)) == len(marks)
    assert not [
        error.message for error in Draft4Validator(SARIF_SCHEMA).iter_errors(json.loads(sarif.render(results([]))))
    ]


def test_sarif_names_files_as_uri_references():
    (result,) = json.loads(sarif.render(results([AWKWARD])))["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "po%20licies/a%2Cb%3A%25.yaml", "uriBaseId": "%SRCROOT%"}


def test_a_fingerprint_stays_when_lines_above_come():
    text = "a: 1\nb: 2\n"
    one = Finding("x", Severity.ERROR, "m", Place("f", 2, 1, 2, 2))
    two = Finding("x", Severity.ERROR, "m", Place("f", 3, 1, 3, 2))
    ((_, before),) = results([one], {"f": text}).fingerprints()
    ((_, after),) = results([two], {"f": "new: 0\n" + text}).fingerprints()
    assert before == after


def test_junit_is_read_by_an_xml_parser(everything):
    root = xml.fromstring(junit.render(everything))
    suites = root.findall("testsuite")
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    errors = [finding for finding in everything.ordered if finding.severity is Severity.ERROR]
    assert root.tag == "testsuites"
    assert int(root.get("tests")) == len(cases)
    assert int(root.get("failures")) == len(failures) == len(errors)
    assert {suite.get("name") for suite in suites} == {everything.path(file) for file in everything.files()}
    for suite in suites:
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert all(case.get("name") and case.get("classname") for case in cases)
    warnings = [finding for finding in everything.ordered if finding.severity is not Severity.ERROR]
    assert len(root.findall("testsuite/testcase/system-out")) == len(warnings)


def test_junit_tells_of_files_without_findings():
    root = xml.fromstring(junit.render(results([], {"a.yaml": ""})))
    assert [case.get("name") for case in root.iter("testcase")] == ["no findings"]


def commands(text):
    """Workflow commands, read as the runner reads them: `::NAME KEY=VALUE,...::DATA`, then unescaped."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+)(?: (.*?))?::(.*)", line)
        if match is None:
            continue
        properties = {}
        for pair in match[2].split(","):
            key, _, value = pair.partition("=")
            for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
                value = value.replace(code, char)
            properties[key] = value
        data = match[3]
        for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            data = data.replace(code, char)
        found.append((match[1], properties, data))
    return found


def test_github_annotations_are_read_back():
    ((command, properties, data),) = commands(github.render(results([AWKWARD])))
    assert command == "error"
    assert properties == {
        "file": "po licies/a,b:%.yaml",
        "line": "3",
        "endLine": "3",
        "col": "7",
        "endColumn": "11",
        "title": "policyengine word-case",
    }
    assert data == "50 % of <this>: a, b | c\ufffd[31m\ufffd “末尾”\nhint: do\nnot"


def test_ten_are_annotated_the_worst_first_and_the_summary_has_all(everything):
    text = github.render(everything)
    shown = commands(text)
    assert len(shown) == 10
    assert {command for command, _, _ in shown} == {"error"}
    total = len(everything.ordered)
    assert text.splitlines()[-1] == f"{total - 10} more; the job summary lists all {total}"
    assert len(github.rest(everything).splitlines()) == total - 10
    rows = [
        line
        for line in github.summary(everything, "policyengine lint").splitlines()
        if re.match(r"\| (error|warning|info) \|", line)
    ]
    assert len(rows) == total
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)


def test_the_summary_shows_messages_and_places_as_they_are():
    message = "**no** [link](x) or <img> in `a|b`; use `c`"
    found = results([Finding("x", Severity.ERROR, message, Place("_p_/*.yaml", 1), "not\n# this")])
    (row,) = [line for line in github.summary(found, "t").splitlines() if line.startswith("| error")]
    said = r"\*\*no\*\* \[link\](x) or \<img\> in `a\|b`; use `c` (not # this)"
    assert row == rf"| error | `x` | \_p\_/\*.yaml:1:1 | {said} |"


def test_a_huge_summary_stays_below_the_limit():
    many = [Finding("x", Severity.ERROR, "m" * 200, Place("f", line)) for line in range(1, 9_000)]
    text = github.summary(results(many), "policyengine lint")
    assert len(text.encode()) < 1_000_000
    assert "more do not fit here" in text


def test_gitlab_entries_have_what_gitlab_asks_for(everything):
    entries = json.loads(gitlab.render(everything))
    assert len(entries) == len(everything.ordered)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    for entry in entries:
        assert entry["description"]
        assert entry["check_name"]
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(entry["location"]["lines"]["begin"], int)
        assert not entry["location"]["path"].startswith("./")


def test_files_below_the_root_are_named_from_it(tmp_path):
    file = tmp_path / "policies" / "a.yaml"
    found = Results((Finding("x", Severity.INFO, "m", Place(str(file))),), root=tmp_path)
    assert found.path(str(file)) == found.uri(str(file)) == "policies/a.yaml"
    assert results([]).uri("/elsewhere/a b.yaml") == "file:///elsewhere/a%20b.yaml"
