"""Test documents that are wrong: one finding each, at its place, and exit status 1."""

from pathlib import Path

import pytest

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
