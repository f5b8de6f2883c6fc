"""A place inside a scalar's value is the place of the character in the file that stands for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from policyengine.source.offsets import origins
from policyengine.source.text import Lines
from policyengine.source.yaml import Document, parse_documents
from tests.conftest import examples

STYLES = ["", "'", '"', "|", ">"]
ALPHABET = "ab :#'\"\\&*!-?{}[],>|%@`=<\n\té中😀\x85\x07\u2028\xa0"
TEXTS = st.text(alphabet=ALPHABET, max_size=60)


def _only(text: str) -> Document:
    documents, findings = parse_documents(text, "f.yaml")
    assert not findings, [str(finding) for finding in findings]
    return documents[0]


def _offset(text: str, document: Document, path: tuple[Any, ...], index: int) -> int:
    place = document.place_in(path, index)
    starts = Lines(text, "f.yaml")
    for offset in range(len(text) + 1):
        if starts.position(offset) == (place.line, place.column):
            return offset
    raise AssertionError(place)


def _check(text: str, value: str, path: tuple[Any, ...]) -> None:
    document = _only(text)
    assert document.value(path) == value
    start, end = document.span(path)
    style = document.style(path)
    assert style is not None
    found = origins(text, start, max(end, start), style, value)
    assert found is not None, "the source must read as the value"
    assert found == sorted(found)
    for index, char in enumerate(value):
        source = text[_offset(text, document, path, index)]
        if source == "\\" and style == '"':
            continue  # an escape, which stands for any character
        if source in "\r\n":
            assert char in " \n"  # folded or kept
        else:
            assert source == char


@settings(max_examples=examples(120))
@given(TEXTS, st.sampled_from(STYLES), st.sampled_from([20, 80, 1000]), st.booleans())
@example("a > 1 &&\nb < 2\n", "|", 80, True)
@example("  indented\n\n\nmore\n", ">", 20, True)
@example("\n\n a\nb", "|", 80, False)
def test_every_style_that_yaml_dumps(value: str, style: str, width: int, nested: bool) -> None:
    data: Any = {"spec": [{"when": value}]} if nested else {"when": value}
    path = ("spec", 0, "when") if nested else ("when",)
    text = yaml.dump(data, default_style=style or None, width=width, allow_unicode=True)
    assume(not set(text) & set("\x85\u2028\u2029"))  # refused when they stand raw; see the findings
    text = text.replace('"spec"', "spec").replace("!!int ", "")
    _check(text, value, path)


@settings(max_examples=examples(120))
@given(
    st.lists(st.sampled_from(["a", "b c", "  x", "", " ", "\ty", "# no", "中文"]), min_size=1, max_size=8),
    st.sampled_from(["|", ">"]),
    st.sampled_from(["", "-", "+"]),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "# end\n", "b: 1\n"]),
)
def test_block_scalars_of_any_indentation_and_chomping(
    lines: list[str], style: str, chomp: str, indent: int, digit: bool, newline: str, after: str
) -> None:
    if not digit:
        assume(lines[0] not in ("  x", "", " ", "\ty"))
    header = f"{style}{chomp}{indent if digit else ''}  # comment"
    body = "\n".join(" " * indent + line if line else "" for line in lines)
    text = f"a: {header}\n{body}\n{after}".replace("\n", newline)
    documents, findings = parse_documents(text, "f.yaml")
    assume(not findings)
    _check(text, documents[0].data["a"], ("a",))


@settings(max_examples=examples(100))
@given(TEXTS)
def test_json_strings(value: str) -> None:
    text = '{"a": ' + json.dumps(value, ensure_ascii=True) + "}"
    assume("\\ud8" not in text and "\\ud" not in text)
    _check(text, value, ("a",))


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@settings(max_examples=examples(100))
@given(TREES, st.sampled_from([None, True, False]))
def test_what_yaml_dumps_is_read_back(data: Any, flow: bool | None) -> None:
    text = yaml.dump(data, default_flow_style=flow, allow_unicode=False)
    documents, findings = parse_documents(text, "f.yaml")
    assert not findings, text
    assert documents[0].data == data


CASES = [
    # text, path, (offset, length), expected line:column-line:column
    ("a: x > 1", "a", (2, 1), "1:6-1:7"),
    ("a: 'it''s y'", "a", (5, 1), "1:11-1:12"),
    ('a: "\\u4e2d\\n x"', "a", (3, 1), "1:14-1:15"),
    ("a: |\n  foo\n    bar\n", "a", (6, 3), "3:5-3:8"),
    ("a: |2-\n    foo\n", "a", (2, 3), "2:5-2:8"),
    ("a: >-\n  foo\n  bar\n\n  baz\n", "a", (4, 3), "3:3-3:6"),
    ("a: >-\n  foo\n  bar\n\n  baz\n", "a", (8, 3), "5:3-5:6"),
    ("a: foo\n  bar", "a", (4, 3), "2:3-2:6"),
    ("a: !!str &x |\n  foo\n", "a", (1, 1), "2:4-2:5"),
    ("a: &x\n  foo\n", "a", (1, 1), "2:4-2:5"),
    ("a: foo", "a", (3, 1), "1:7-1:7"),
    ("a: foo", "a", (99, 1), "1:7-1:7"),
    ("a: 12", "a", (1, 1), "1:4-1:6"),
]


@pytest.mark.parametrize(("text", "key", "part", "expected"), CASES)
def test_known_places(text: str, key: str, part: tuple[int, int], expected: str) -> None:
    place = _only(text).place_in((key,), *part)
    assert f"{place.line}:{place.column}-{place.end_line}:{place.end_column}" == expected
