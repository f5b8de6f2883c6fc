"""JSON inputs are read strictly; what is wrong is said with line and column."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policyengine.source.errors import InputError
from policyengine.source.jsonfile import parse_json, read_json

BAD = [
    ("", "1:1", "the input is empty"),
    ("  \n", "1:1", "the input is empty"),
    ('{"a": 1,\n "a": 2}', "2:2", 'duplicate key "a"; first on line 1'),
    ('{"a": NaN}', "1:7", "NaN is not JSON"),
    ("[-Infinity]", "1:2", "-Infinity is not JSON"),
    ("[1e999]", "1:2", "outside the range of 64 bits"),
    ("[9223372036854775808]", "1:2", "outside the range of 64 bits"),
    ("[01]", "1:2", "must not begin with 0"),
    ("{} x", "1:4", "unexpected text after the JSON value"),
    ('{"a": 1}\n{"a": 2}', "2:1", "unexpected text after the JSON value"),
    ("[1, 2,]", "1:7", "comma before `]`"),
    ('{"a": 1,}', "1:9", "comma before `}`"),
    ("{'a': 1}", "1:2", "expected a key in double quotes"),
    ("['a']", "1:2", "single quotes are not JSON"),
    ("[True]", "1:2", "write true"),
    ("{a: 1}", "1:2", "expected a key in double quotes"),
    ('{"a" 1}', "1:6", "expected `:`"),
    ('{"a": ', "1:7", "the input ends where a value is expected"),
    ('{"a": [1, 2}', "1:12", "expected `,` or `]`"),
    ('{"a": 1', "1:8", "before the `{` of line 1 is closed"),
    ('["abc', "1:2", "the quote that opens here is not closed"),
    ('["a\tb"]', "1:4", "control character"),
    ('["\\x"]', "1:3", "invalid escape"),
    ('["\\ud800"]', "1:2", "half a surrogate pair"),
    ("// no\n{}", "1:1", "expected a JSON value"),
    ("[" * 150 + "]" * 150, "1:101", "nested deeper than 100"),
    ("[" * 100_000, "1:101", "nested deeper than 100"),
]


@pytest.mark.parametrize(("text", "place", "piece"), BAD, ids=[text[:20] for text, _, _ in BAD])
def test_bad_input(text: str, place: str, piece: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, "in.json")
    assert str(caught.value).startswith(f"in.json:{place}: ")
    assert piece in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "place", "piece"),
    [
        (b'{"a": "\xe4"}', "1:8", "byte 0xe4 is not UTF-8"),
        (b"\xff\xfe{\0", "1:1", "UTF-16"),
        (b"{\0}", "1:2", "NUL"),
    ],
)
def test_bad_bytes(tmp_path: Path, data: bytes, place: str, piece: str) -> None:
    file = tmp_path / "in.json"
    file.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_json(file)
    assert f"in.json:{place}: " in str(caught.value)
    assert piece in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nope.json", tmp_path):
        with pytest.raises(InputError):
            read_json(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys,
        "stdin",
        io.TextIOWrapper(io.BytesIO(b'\xef\xbb\xbf{"a": [1, 2.5, null, true, "\\ud83d\\ude00"]}')),
    )
    assert read_json("-") == {"a": [1, 2.5, None, True, "😀"]}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(VALUES, st.booleans())
def test_what_json_writes_is_read_back(value: Any, escaped: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=escaped), "in.json") == value


@given(st.text(alphabet='{}[]":,\\ 01e-.+utrfalsn\n\t', max_size=30))
def test_random_text_is_a_value_or_an_error(text: str) -> None:
    try:
        value = parse_json(text, "in.json")
    except InputError:
        return
    assert json.loads(text) == value
