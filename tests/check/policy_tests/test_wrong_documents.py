"""Test documents that are wrong: one finding each, at its place, and exit status 1."""

from pathlib import Path

import pytest
import yaml

from policyengine.source.yaml import read_documents

DATA = Path(__file__).parent / "data" / "wrong.yaml"
CASES = read_documents(DATA)[0][0].data["documents"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_wrong_document_is_one_finding_at_its_place(case, write, light, run):
    file = write(case["spec"])
    bundle = ["--bundle", light] if case.get("bundle") != "default" else ["--bundle", "policies"]
    result = run("test", file, *bundle, "--format", "json")
    findings = result.json["findings"]
    assert [f"{f['line']}:{f['column']}" for f in findings] == [case["at"]]
    said = f"{findings[0]['message']} {findings[0]['hint'] or ''}"
    assert [piece for piece in case["says"] if piece not in said] == []
    assert Path(findings[0]["file"]) == file
    assert result.status == 1


# What is said of a whole document holds for every case in it, and none of them runs.
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_second_case_with_the_same_mistake_does_not_run(case, write, light, run):
    spec = yaml.safe_load(case["spec"])
    cases = spec.get("cases", [])
    spec["cases"] = cases + [{**one, "name": f"{one['name']} again"} for one in cases]
    file = write(yaml.safe_dump(spec, sort_keys=False))
    bundle = light if case.get("bundle") != "default" else "policies"
    result = run("test", file, "--bundle", bundle, "--format", "json")
    assert result.status == 1, result.err
    assert result.json["findings"] != []
    assert [one["name"] for one in result.json["cases"] if not one["passed"]] == []


def test_tests_of_another_bundle_are_findings(light, run):
    result = run("test", "--bundle", light, "policies/routing.test.yaml", "--format", "json")
    assert result.status == 1
    assert {finding["message"] for finding in result.json["findings"]} >= {"the bundle has no policy `routing`"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Tests\n\tspec: {}\n", "tab"),
        ("", "empty"),
        ("kind: Tests\nkind: Tests\n", "duplicate key"),
    ],
)
def test_a_test_file_that_cannot_be_read_is_a_finding(text, says, good, run):
    (good / "broken.test.yaml").write_text(text, encoding="utf-8")
    result = run("test", "--bundle", good)
    assert result.status == 1
    assert says in result.out


def test_a_document_that_refuses_its_schema_does_not_hide_the_others(good, write, run):
    write("policy: light\ncases: nothing")
    result = run("test", "--bundle", good, "--format", "json")
    assert result.status == 1
    assert result.json["counts"]["passed"] == 8
    assert len(result.json["findings"]) == 1
