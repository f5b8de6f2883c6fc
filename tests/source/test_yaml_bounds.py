"""Hostile files cost bounded memory, never an exception, and are refused where they go beyond a limit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyengine.source import yaml as reader
from policyengine.source.yaml import parse_documents, read_documents
from tests.conftest import examples

MB = 1_000_000


def _bomb(width: int, levels: int) -> str:
    lines = ["a0: &a0 [" + ", ".join(["x"] * width) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * width) + "]" for n in range(1, levels)]
    return "\n".join(lines)


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "alias bomb": (lambda: _bomb(10, 30), "with aliases followed"),
    "alias chain deeper than the limit": (lambda: _bomb(1, 5000), "nested deeper than 100"),
    "200 levels of lists": (lambda: "[" * 200 + "]" * 200, "nested deeper than 100"),
    "200 levels of blocks": (
        lambda: "".join("  " * level + "a:\n" for level in range(200)),
        "nested deeper than 100",
    ),
    "a million brackets": (lambda: "[" * MB, "nested far too deep"),
    "a million braces": (lambda: "{" * MB, "nested far too deep"),
    "a million dashes": (lambda: "- " * MB, "nested deeper than 100"),
    "too many values": (lambda: "- a\n" * MB, "more than 200,000 values"),
    "too many directives": (
        lambda: "".join(f"%TAG !a{n}! tag:x\n" for n in range(100_000)) + "--- a",
        "too many %TAG",
    ),
    "too many findings": (lambda: "a: 1\n" * 100_000, "more than 200 findings"),
    "a quote that never ends": (lambda: 'a: "' + "x\n" * MB, "never closed"),
    "comments behind an anchor": (lambda: "a: &x\n" + "#\n" * MB, ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text(name: str) -> None:
    make, piece = HOSTILE[name]
    text = make()
    tracemalloc.start()
    try:
        documents, findings = parse_documents(text, "f.yaml")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * MB + 20 * len(text)
    assert len(findings) <= reader.MAX_FINDINGS + 1
    if piece:
        assert piece in findings[-1].message
        assert all(len(str(finding)) < 400 for finding in findings)
    else:
        assert not findings
        assert documents[0].data == {"a": None}


def test_a_file_of_more_than_five_megabytes_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(2_000 * MB)
    tracemalloc.start()
    try:
        documents, findings = read_documents(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not documents
    assert "larger than 5 MB" in findings[0].message
    assert peak < 25 * MB


def test_an_endless_device_is_not_read_to_its_end() -> None:
    assert "larger than 5 MB" in read_documents("/dev/zero")[1][0].message


def test_a_hundred_levels_and_shared_aliases_are_fine() -> None:
    documents, findings = parse_documents("[" * 99 + "]" * 99, "f.yaml")
    assert not findings
    assert len(documents) == 1
    documents, findings = parse_documents("a: &a [1, 2]\nb: [*a, *a, *a]\n", "f.yaml")
    assert not findings
    assert documents[0].data["b"] == [[1, 2]] * 3


SAMPLE = (Path(__file__).parent / "data" / "yaml-findings.yaml").read_bytes()[:3000]


@given(st.binary(max_size=200))
def test_random_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("random") / "f.yaml"
    file.write_bytes(data)
    documents, findings = read_documents(file)
    assert documents or findings


@settings(max_examples=examples(120))
@given(st.data())
def test_mutated_yaml_never_raises(data: st.DataObject) -> None:
    text = SAMPLE.decode()
    start = data.draw(st.integers(0, len(text) - 1))
    text = text[start : start + 400]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        piece = data.draw(
            st.sampled_from([*"\t\n:-?[]{}&*!|>'\"%@`#,\\\r ", "---\n", "...\n", "<<: ", "!!x ", "\u2028"])
        )
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 3)) :]
    documents, findings = parse_documents(text, "f.yaml")
    assert documents or findings
    lines = text.count("\n") + text.count("\r") + 1
    for finding in findings:
        assert 1 <= finding.place.line <= lines
        assert finding.place.column >= 1
        assert "\n" not in str(finding)
    for document in documents:
        _visit(document, document.data, ())


def _visit(document: reader.Document, value: object, path: tuple[str | int, ...]) -> None:
    assert document.place(path).line >= 1
    if isinstance(value, str):
        for offset in range(len(value) + 1):
            document.place_in(path, offset)
    elif isinstance(value, dict):
        for key, child in value.items():
            document.key_place((*path, key))
            _visit(document, child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            _visit(document, child, (*path, index))
