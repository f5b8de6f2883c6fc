"""What cannot be read is one clear line that names the file; nothing else is ever raised."""

import json
from pathlib import Path

import pytest

from policyengine.sessions import read
from policyengine.source.errors import InputError

CASES = json.loads((Path(__file__).parent / "data" / "errors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_unusable_content(case, tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_text(case["content"], encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:1:1: {case['message']}")
    assert "\n" not in message
    assert caught.value.place is not None


def test_a_binary_file(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(bytes(range(128, 256)) * 40)
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read(path)


def test_another_encoding_of_text(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes('{"role":"user","content":"hello"}'.encode("utf-16"))
    with pytest.raises(InputError, match=r"session\.jsonl"):
        read(path)


def test_a_directory(tmp_path):
    with pytest.raises(InputError, match="is a directory; expected a file"):
        read(tmp_path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read(tmp_path / "missing.jsonl")


def test_nesting_without_end_is_skipped_and_counted(tmp_path):
    path = tmp_path / "session.jsonl"
    deep = '{"role":"user","content":' + "[" * 100_000 + "]" * 100_000 + "}"
    also = '{"role":"user","content":' + "[" * 400 + "]" * 400 + "}"
    path.write_text(f'{deep}\n{also}\n{{"role":"user","content":"hello"}}\n', encoding="utf-8")
    session = read(path)
    assert session.skipped == {"nested too deeply": 2}
    assert session.turns[0].prompt == "hello"
