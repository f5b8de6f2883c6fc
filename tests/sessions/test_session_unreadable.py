"""What cannot be read is one clear line that names the file; nothing else is ever raised."""

import json
import time
from pathlib import Path

import pytest

from policyengine.sessions import lines, read, read_text
from policyengine.source.errors import InputError

CASES = json.loads((Path(__file__).parent / "data" / "errors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_unusable_content(case, tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_text(case["content"], encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {case['message']}")
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


def _line(kind, content, at=0, **more):
    message = {"role": kind, "content": content, "id": f"m{at}", "model": "claude-x", **more}
    return json.dumps({"type": kind, "uuid": f"{kind}{at}", "sessionId": "s", "message": message})


def _gemini(rounds):
    call = [{"role": "model", "parts": [{"functionCall": {"name": f"f{at}", "args": {}}}]} for at in range(rounds)]
    other = [
        {"role": "user", "parts": [{"functionResponse": {"name": f"g{at}", "response": {}}}]} for at in range(rounds)
    ]
    return json.dumps({"contents": [message for pair in zip(call, other, strict=True) for message in pair]})


HOSTILE = {
    "elements of the product": _line("user", "hi <system-reminder></system-reminder>" * 60_000)
    + "\n"
    + _line("assistant", [{"type": "text", "text": "x"}]),
    "calls in one response": _line("user", "p")
    + "\n"
    + _line("assistant", [{"type": "tool_use", "id": f"t{at}", "name": "Read", "input": {}} for at in range(30_000)]),
    "calls without an answer": _gemini(15_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_reading_takes_linear_time(name):
    begun = time.perf_counter()
    assert read_text(HOSTILE[name]).rounds
    assert time.perf_counter() - begun < 10  # 1 s or less on an idle machine


def test_elements_are_taken_out():
    text = _line(
        "user", "a<system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>c<system-reminder>d"
    )
    assert read_text(text + "\n" + _line("assistant", "x")).turns[0].prompt == "abc<system-reminder>d"


def test_a_line_beyond_the_limit_is_skipped_unread(monkeypatch, tmp_path):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    good = _line("user", "p") + "\n" + _line("assistant", "x") + "\n"
    session = read_text(good + "{" * 5000 + "\n" + _line("user", "q", 1) + "\n" + _line("assistant", "y", 1))
    assert session.skipped == {"line too long": 1}
    assert [turn.prompt for turn in session.turns] == ["p", "q"]
    with pytest.raises(InputError, match="begins with a line of more than"):
        read_text("x" * 5000)
