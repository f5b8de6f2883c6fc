"""Each format's fixture reads as data/expected.json says, and only its content tells which format it is."""

import json
import re
from pathlib import Path

import pytest
from session_outline import outline

from policyengine.sessions import read, read_text

DATA = Path(__file__).parent / "data"
EXPECTED = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fixture_reads_as_expected(name):
    assert outline(read(DATA / name)) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_file_name_does_not_matter(name, tmp_path):
    other = tmp_path / "transcript.bin"
    other.write_bytes((DATA / name).read_bytes())
    assert outline(read(str(other))) == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(name, tmp_path):
    other = tmp_path / "session"
    other.write_bytes(b"\xef\xbb\xbf" + (DATA / name).read_bytes().replace(b"\n", b"\r\n"))
    assert outline(read(other)) == EXPECTED[name]


def test_every_format_has_a_fixture():
    assert {case["format"] for case in EXPECTED.values()} == {
        "claude-code",
        "codex",
        "openai",
        "anthropic",
        "gemini",
        "qwen-code",
    }


def test_text_in_memory_reads_like_a_file():
    name = "gemini.json"
    session = read_text((DATA / name).read_text(encoding="utf-8"), "memory")
    assert outline(session) == EXPECTED[name]
    assert session.path == "memory"


def test_one_document_on_one_line_reads_like_many(tmp_path):
    for name in ("anthropic.json", "gemini.json", "openai-chat.json", "openai-responses.json"):
        packed = json.dumps(json.loads((DATA / name).read_text(encoding="utf-8")))
        assert outline(read_text(packed)) == EXPECTED[name]


def test_messages_one_a_line_read_like_a_document():
    contents = json.loads((DATA / "gemini.json").read_text(encoding="utf-8"))["contents"]
    session = read_text("\n".join(map(json.dumps, contents)))
    assert (session.format, len(session.rounds), len(session.turns)) == ("gemini", 2, 2)


def test_gemini_contents_as_the_objects_of_the_sdk_are_written_out_read_like_those_that_were_sent():
    """`model_dump_json` of a content gives snake case, with a null for every field that is not set."""

    def written_out(value, keys=True):
        if isinstance(value, list):
            return [written_out(item) for item in value]
        if not isinstance(value, dict):
            return value
        found = {
            re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), key) if keys else key: (
                written_out(item, keys=key not in ("args", "response"))
            )
            for key, item in value.items()
        }
        unset = dict.fromkeys(("text", "thought", "function_call", "function_response", "inline_data", "file_data"))
        return {**unset, **found} if keys else found

    sent = json.loads((DATA / "gemini.json").read_text(encoding="utf-8"))
    sent["contents"][1]["parts"][1]["functionCall"]["args"] = {"max_count": 1, "none": None}
    session = read_text(json.dumps(sent))
    assert "max_count" in session.rounds[0].calls[0].arguments
    assert outline(read_text(json.dumps(written_out(sent)))) == outline(session)
    assert read_text(json.dumps(written_out(sent))).rounds == session.rounds


def test_progress_reports_bytes_up_to_the_end():
    seen = []
    path = DATA / "claude-code.jsonl"
    read(path, progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert seen[-1] == (size, size)


def test_arguments_are_parsed_and_fingerprints_ignore_the_order_of_keys():
    first, second, third = read(DATA / "openai-chat.json").rounds[0].calls
    assert first.arguments == {"a": 1, "b": 2}
    assert first.fingerprint == second.fingerprint != third.fingerprint
    assert third.arguments == "not json"


def test_a_redacted_text_has_the_size_of_its_original():
    session = read(DATA / "codex.jsonl")
    part = next(part for part in session.rounds[0].added if part.redacted)
    assert (part.bytes, part.text) == (400, None)
    assert session.turns[1].prompt_redacted
    result = session.rounds[0].calls[0].result
    assert result is not None
    assert result.bytes == 64


def test_usage_of_zero_is_unknown():
    assert read(DATA / "claude-code.jsonl").rounds[2].usage is None


def test_half_a_surrogate_pair_can_be_written_out_again():
    session = read_text('{"role":"user","content":"a \\ud83d b"}\n{"role":"assistant","content":"\\ud83d\\ude00"}')
    assert session.turns[0].prompt.encode("utf-8")
    assert session.rounds[0].output[0].text == "😀"


def test_a_summary_without_a_boundary_is_a_compaction_too():
    lines = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "uuid": "2", "message": {"id": "a", "role": "assistant", "content": "ok"}},
        {"type": "user", "uuid": "3", "isCompactSummary": True, "message": {"role": "user", "content": "so far"}},
        {"type": "assistant", "uuid": "4", "message": {"id": "b", "role": "assistant", "content": "on"}},
    ]
    session = read_text("\n".join(map(json.dumps, lines)))
    (compaction,) = session.recorded_compactions
    assert (compaction.round, compaction.trigger, compaction.tokens) == (2, None, None)
    assert [item.context for item in session.rounds] == [0, 1]
    assert session.rounds[1].added[0].text == "so far"
