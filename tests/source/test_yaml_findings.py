"""Every way a person breaks a YAML file gives located findings, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policyengine.source.yaml import parse_documents, read_documents

DATA = Path(__file__).parent / "data"
CASES: list[dict[str, Any]] = yaml.safe_load((DATA / "yaml-findings.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_findings(case: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "case.yaml"
    file.write_bytes(case["bytes"].encode("latin-1") if "bytes" in case else case["text"].encode())
    _, findings = read_documents(file)
    assert len(findings) == len(case["findings"]), [str(finding) for finding in findings]
    for finding, wanted in zip(findings, case["findings"], strict=True):
        place, piece = wanted.split(": ", 1)
        assert f"{finding.place.line}:{finding.place.column}" == place, str(finding)
        assert piece in str(finding)
        assert "\n" not in str(finding)
        assert (finding.code, finding.severity, finding.place.file) == ("yaml", "error", str(file))


def test_values_follow_the_core_schema() -> None:
    text = "[no, on, YES, 1_000, 12:30, 2024-01-01, 0o17, 0x1F, 1e3, .5, -7, ~, null, , true, FALSE, '1', 0b1]"
    documents, findings = parse_documents(text.replace(", ,", ", '',"), "f.yaml")
    assert not findings
    expected = ["no", "on", "YES", "1_000", "12:30", "2024-01-01", 15, 31, 1000.0, 0.5, -7, None, None, ""]
    assert documents[0].data == [*expected, True, False, "1", "0b1"]
    assert [type(value) for value in documents[0].data[6:11]] == [int, int, float, float, int]


def test_several_documents_each_know_their_places() -> None:
    documents, findings = parse_documents("a: 1\n---\nb:\n  - c: 2\n", "f.yaml")
    assert not findings
    assert [document.data for document in documents] == [{"a": 1}, {"b": [{"c": 2}]}]
    assert str(documents[1].place(("b", 0, "c"))) == "f.yaml:4:8"
    assert str(documents[1].key_place(("b", 0, "c"))) == "f.yaml:4:5"
    assert [document.index for document in documents] == [0, 1]


def test_documents_before_a_syntax_error_are_kept() -> None:
    documents, findings = parse_documents("a: 1\n---\nb: [\n", "f.yaml")
    assert [document.data for document in documents] == [{"a": 1}]
    assert len(findings) == 1


def test_places_of_aliases_and_of_paths_that_lead_nowhere() -> None:
    document = parse_documents("a: &x {b: hello}\nc: *x\n", "f.yaml")[0][0]
    assert document.data["c"] == {"b": "hello"}
    assert str(document.place(("c",))) == "f.yaml:2:4"
    assert str(document.place(("c", "b"))) == "f.yaml:1:11"
    assert str(document.place_in(("c", "b"), 2)) == "f.yaml:1:13"
    assert document.place(("c", "nope", 3)) == document.place(("c",))
    assert document.key_place(("nope",)) == document.place(())


def test_a_value_already_reported_is_known_as_flawed() -> None:
    document = parse_documents("a: 0777\nb: 1\n", "f.yaml")[0][0]
    assert (document.sound, document.flawed(("a",)), document.flawed(("b",))) == (False, True, False)


@pytest.mark.parametrize(("kind", "piece"), [("missing", "no such file"), ("folder", "this is a directory")])
def test_what_is_no_file(tmp_path: Path, kind: str, piece: str) -> None:
    documents, findings = read_documents(tmp_path if kind == "folder" else tmp_path / "nope.yaml")
    assert not documents
    assert [piece in finding.message for finding in findings] == [True]


def test_a_pipe_is_refused_and_does_not_block(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.yaml")
    assert "not a regular file" in read_documents(tmp_path / "pipe.yaml")[1][0].message
