"""`policyengine replay` on real recordings and on the sample that ships."""

import json
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from policyengine.source.schema import load_schema, validate_input
from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"
AUTO, MANUAL = "sessions/claude-code-auto-compact.jsonl", "sessions/claude-code-manual-compact.jsonl"
CODEX = ("sessions/codex-one-turn.jsonl", "sessions/codex-seven-turns.jsonl")


def test_the_recorded_compaction_is_decided_in_its_round_and_nowhere_earlier(run, shared):
    (one,) = run("replay", shared(AUTO), "--window", 200_000, "--format", "json").json["sessions"]
    first_context = [item for item in one["compactions"] if item["round"] <= one["recorded_compactions"][0]["round"]]
    assert [(item["round"], item["recorded"], item["tier"]) for item in first_context] == [
        (one["recorded_compactions"][0]["round"], True, "auto")
    ]
    assert 167_000 <= first_context[0]["tokens"] <= 167_200
    assert one["recorded_compactions"] == [{"round": 103, "trigger": "auto", "tokens": 167_094}]


def test_no_compaction_is_decided_before_one_made_by_hand(run, shared):
    (one,) = run("replay", shared(MANUAL), "--window", 200_000, "--format", "json").json["sessions"]
    assert one["compactions"] == []
    assert one["recorded_compactions"] == [{"round": 139, "trigger": "manual", "tokens": 142_431}]
    assert len({row["model"] for row in one["rounds"]}) == 2


@pytest.mark.parametrize("name", [AUTO, MANUAL])
def test_the_estimate_is_close(run, shared, name):
    (one,) = run("replay", shared(name), "--window", 200_000, "--format", "json").json["sessions"]
    assert one["estimate"]["rounds"] > 140
    assert one["estimate"]["p5"] >= 0.95
    assert one["estimate"]["p95"] <= 1.05


@pytest.mark.parametrize(("name", "rounds", "compacted"), [(CODEX[0], 28, []), (CODEX[1], 83, [78])])
def test_codex_brings_its_window_and_one_round_a_response(run, shared, name, rounds, compacted):
    (one,) = run("replay", shared(name), "--format", "json").json["sessions"]
    assert (one["window"], one["window_origin"], one["format"]) == (258_400, "session", "codex")
    assert len(one["rounds"]) == rounds
    # Below the ladder: seven turns are more than the sliding window keeps.
    assert [item["round"] for item in one["compactions"]] == compacted
    reasons = {row["compaction"]["reason"] for row in one["rounds"] if row["compaction"]["decided"]}
    assert reasons == ({"triggered"} if compacted else set())
    assert ("sliding_window, accepted" in run("replay", shared(name)).out) == bool(compacted)
    # Cached tokens are inside the input: a prompt is never smaller than what of it was cached.
    assert 0 < one["cache"]["p50"] <= one["cache"]["p90"] <= 1


def test_tools_of_no_known_kind_are_named_and_listed_ones_are_not(run, tmp_path):
    names = [
        "our_deploy",
        "our_deploy",
        "mcp__files__write",
        "read_file",
        *(f"tool_{number:02}" for number in range(11)),
    ]
    messages = [{"role": "user", "content": "what is this about?"}]
    for index, name in enumerate(names):
        call = {"id": str(index), "type": "function", "function": {"name": name, "arguments": "{}"}}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(index), "content": "done"})
    session = tmp_path / "session.json"
    session.write_text(json.dumps(messages), encoding="utf-8")

    (one,) = run("replay", session, "--bundle", "built-in", "--format", "json").json["sessions"]
    assert one["unlisted_tools"] == {"our_deploy": 2, **{f"tool_{number:02}": 1 for number in range(11)}}
    out = run("replay", session, "--bundle", "built-in").out
    assert "tools of no known kind: our_deploy 2, tool_00 1, " in out
    assert "tool_08 1 and 2 more; a policy of kind ToolCatalogue says what they do" in out
    assert "mcp__" not in out

    # Named in a catalogue of one's own they have a kind.
    run("init", tmp_path / "own", "--only", "ToolCatalogue")
    tools = tmp_path / "own" / "tools.yaml"
    text = tools.read_text(encoding="utf-8").replace(
        "  tools:\n", f"  tools:\n    - {{tool: ours, kind: execute, names: {sorted({*names} - {'read_file'})}}}\n"
    )
    tools.write_text(text, encoding="utf-8")
    found = run("replay", session, "--bundle", tmp_path / "own", "--format", "json").json
    assert found["sessions"][0]["unlisted_tools"] == {}
    assert "tools of no known kind" not in run("replay", SAMPLE).out


def test_the_json_has_the_documented_fields(run):
    document = run("replay", SAMPLE, "--format", "json").json
    assert {"sessions", "routing", "directives"} <= set(document)
    (one,) = document["sessions"]
    assert {
        "path", "format", "model", "window", "rounds", "compactions", "recorded_compactions", "estimate", "cache",
        "skipped_lines",
    } <= set(one)  # fmt: skip
    for row in one["rounds"]:
        assert {
            "round", "turn", "tokens", "tokens_source", "tier", "compaction", "tip", "routing", "directive",
        } <= set(row)  # fmt: skip
        assert set(row["compaction"]) == {"decided", "forced", "reason"}
        if row["routing"]:
            assert {"decision", "veto_reason", "outcome"} <= set(row["routing"])
    routing = document["routing"]
    assert routing["continuations"] == routing["fast"] + routing["primary"]
    assert routing["fast"] == routing["fast_confirmed"] + routing["fast_would_fall_back"]
    assert document["directives"]["batches"] == routing["continuations"]


def test_a_fast_round_is_compared_with_what_followed(run):
    (one,) = run("replay", SAMPLE, "--format", "json").json["sessions"]
    fast = [row["routing"] for row in one["rounds"] if row["routing"] and row["routing"]["decision"] == "fast"]
    assert {(item["followed_by"], item["outcome"]) for item in fast} == {
        ("text", "confirmed"),
        ("tool_call", "would_fall_back"),
    }


def test_a_smaller_window_makes_counts_counterfactual_not_a_storm(run):
    """After a compaction that the recording lacks, its count no longer stands; it must not fire again and again."""
    (one,) = run("replay", SAMPLE, "--window", 150_000, "--format", "json").json["sessions"]
    decided = [item["round"] for item in one["compactions"] if not item["recorded"]]
    assert decided
    assert all(later - earlier > 3 for earlier, later in pairwise(decided))
    after = next(row for row in one["rounds"] if row["round"] == decided[0] + 1)
    assert after["tokens_source"] == "counterfactual"


def test_a_window_that_cannot_hold_the_fixed_part_opens_the_breaker(run):
    """C25: what no compaction removes is above `auto`; the second pass in a row says so and the breaker opens."""
    (one,) = run("replay", SAMPLE, "--window", 32_000, "--format", "json").json["sessions"]
    assert 0 < len(one["compactions"]) <= 8
    assert any(row["compaction"]["reason"] in ("breaker_open", "rescue_exhausted") for row in one["rounds"])


def test_a_long_session_is_laid_out_in_a_part_of_the_time_that_deciding_it_takes(capsys):
    import time

    from policyengine.check.replay import Options, replay
    from policyengine.commands import replay_text
    from policyengine.kinds.bundle import load
    from policyengine.kinds.loop import Loop
    from policyengine.sessions import read

    session, loop = read(SAMPLE), Loop(load())
    began = time.thread_time()
    one = replay(session, loop, Options())
    one.rounds *= 100
    for _ in range(9):
        replay(session, loop, Options())
    decided = (time.thread_time() - began) * 10
    began = time.thread_time()
    replay_text.show([one])
    assert time.thread_time() - began < decided / 2
    assert len(capsys.readouterr().out.splitlines()) > 2_600


def test_text_is_one_row_a_round_without_colour(run):
    found = run("replay", SAMPLE, "--bundle", "built-in")
    (one,) = run("replay", SAMPLE, "--format", "json").json["sessions"]
    rows = [line for line in found.out.splitlines() if line.strip()[:1].isdigit()]
    assert len(rows) == len(one["rounds"])
    assert "\x1b" not in found.out
    assert found.err == ""
    assert not [line for line in found.out.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize(
    ("columns", "args", "left"),
    [
        (40, (), "breaker, from, turn, followed by, directive, tip, veto"),
        (80, (), "breaker, from, turn, followed by, directive"),
        (120, (), "breaker, from"),
        (300, (), None),
        (80, ("--wide",), None),
    ],
)
def test_a_narrow_terminal_leaves_out_whole_columns_and_says_which(columns, args, left):
    """Those without an entry first. What still does not fit wraps: a cell without its end says nothing."""
    import os
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    command = [sys.executable, "cli.py", "replay", str(SAMPLE), *args]
    with subprocess.Popen(command, cwd=ROOT, stdout=follower, stderr=follower, env=environment) as child:
        os.close(follower)
        out = b""
        try:
            while piece := os.read(leader, 65_536):
                out += piece
        except OSError:  # how a terminal says that its other end is closed
            pass
    os.close(leader)
    assert child.returncode == 0
    text = out.decode()
    assert "…" not in text
    said = f"columns left out, this terminal is too narrow: {left} (--wide shows all)"
    assert (said in text) == (left is not None)
    header = text.splitlines()[1]
    for name in left.split(", ") if left is not None else ():
        assert name not in re.sub(r"\x1b\[\d*m", "", header).split("  ")
    rows = [line for line in text.splitlines() if re.match(r" +\d+ ", line)]
    assert sum("further_action" in line for line in rows) == (0 if columns == 40 else 5)
    if left is None:
        assert text.count("further_action  tool call") == 4


def test_jsonl_is_one_line_a_round(run):
    rows = [json.loads(line) for line in run("replay", SAMPLE, "--format", "jsonl").out.splitlines()]
    assert [row["round"] for row in rows] == list(range(1, len(rows) + 1))


def test_one_round_shows_every_decision_and_its_trace(run):
    whole = run("replay", SAMPLE, "--round", 3, "--format", "json").json
    kinds = {item["policy"] for item in whole["decisions"]}
    assert {"floor", "token-estimate", "breaker", "compaction-gate", "tips", "routing", "directives"} <= kinds
    assert all(item["trace"] for item in whole["decisions"])
    text = run("replay", SAMPLE, "--round", 3).out
    assert "decided by" in text


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02\xff", "session.jsonl"),
        (b"just some words\n", "session.jsonl"),
        (b'{"a": 1}\n', "session.jsonl"),
    ],
)
def test_a_file_that_is_no_session_is_one_clear_line(run, tmp_path, content, piece):
    path = tmp_path / "session.jsonl"
    path.write_bytes(content)
    found = run("replay", path)
    assert (found.status, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    assert piece in found.err


@pytest.mark.parametrize(
    "args", [("missing.jsonl",), (".",), (str(SAMPLE), "--round", "99"), (str(SAMPLE), "--window", "-3")]
)
def test_what_cannot_run_exits_with_2(run, args):
    found = run("replay", *args)
    assert found.status == 2
    assert len(found.err.splitlines()) == 1


class TestRecords:
    def records(self, run, tmp_path, *extra):
        log = tmp_path / "log.jsonl"
        assert run("replay", SAMPLE, "--log", log, *extra).status == 0
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    def test_each_decision_is_a_record_that_fits_the_schema(self, run, tmp_path):
        records = self.records(run, tmp_path)
        schema = load_schema("record")
        for record in records:
            assert validate_input(record, schema) == []
        routed = [record for record in records if record["kind"] == "Routing"]
        assert len(routed) == run("replay", SAMPLE, "--format", "json").json["routing"]["continuations"]
        assert {record["decision"] for record in routed} == {"fast", "primary"}

    def test_no_prompt_is_written_unless_asked_for(self, run, tmp_path):
        prompts = [
            content
            for line in SAMPLE.read_text(encoding="utf-8").splitlines()
            if (entry := json.loads(line)).get("type") == "user" and not entry.get("isCompactSummary")
            and isinstance(content := entry["message"]["content"], str)
        ]  # fmt: skip
        assert prompts
        self.records(run, tmp_path)
        written = (tmp_path / "log.jsonl").read_text(encoding="utf-8")
        assert not any(prompt in written for prompt in prompts)
        assert prompts[0] in json.dumps(self.records(run, tmp_path, "--log-prompts"), ensure_ascii=False)

    def test_a_log_that_cannot_be_written_is_one_line(self, run, tmp_path):
        found = run("replay", SAMPLE, "--log", tmp_path / "no" / "such" / "folder.jsonl")
        assert found.status == 2
        assert len(found.err.splitlines()) == 1


def test_a_transcript_never_tells_the_terminal_what_to_do(run, tmp_path):
    path = tmp_path / "s.jsonl"
    lines = [
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "p"}},
        {"type": "assistant", "sessionId": "s", "message": {"id": "m", "role": "assistant", "model": "m\x1b]0;x\x07\nq",
         "content": [{"type": "tool_use", "id": "t", "name": "R\x1b[31m", "input": {}}]}},
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)))
    for more in ((), ("--round", "1")):
        output = run("replay", path, *more).out
        assert "m\\x1b]0;x\\x07\\x0aq" in output
        assert "\x1b" not in output


def _claude_code(tokens, compacted):
    """A Claude Code transcript of one turn: a round of so many tokens, a compaction, and another round."""
    about = {"sessionId": "s", "cwd": "/", "isSidechain": False, "timestamp": "2026-01-01T00:00:00.000Z"}

    def answered(number, count):
        usage = {"input_tokens": count, "output_tokens": 5}
        message = {
            "id": f"m{number}", "type": "message", "role": "assistant", "model": "claude-opus-4-6", "usage": usage,
            "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
        }  # fmt: skip
        return {**about, "type": "assistant", "uuid": f"a{number}", "message": message}

    def asked(number, text, **more):
        return {**about, "type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text}, **more}

    boundary = {
        **about, "type": "system", "subtype": "compact_boundary", "uuid": "c", "content": "Conversation compacted",
        "compactMetadata": {"trigger": compacted, "preTokens": tokens},
    }  # fmt: skip
    lines = [
        asked(1, "hello"), answered(1, tokens), boundary, asked(2, "a summary", isCompactSummary=True),
        asked(3, "go on"), answered(2, 9000),
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("tokens", "trigger", "args", "window"),
    [
        (167_094, "auto", (), "200000"),
        (160_000, "auto", (), "200000"),
        (967_000, "auto", (), None),
        (167_094, "manual", (), None),
        (167_094, "auto", ("--window", "1000000"), None),
    ],
)
def test_a_recorded_compaction_may_speak_for_another_window(run, tmp_path, tokens, trigger, args, window):
    """The catalogue knows what a model takes, not what the product was set to."""
    path = tmp_path / "session.jsonl"
    path.write_text(_claude_code(tokens, trigger))
    found = run("replay", path, "--bundle", "built-in", *args)
    assert found.status == 0
    assert "compactions recorded: round 2" in found.out
    if window is None:
        assert found.err == ""
    else:
        assert f"recorded at {tokens:,} tokens (round 2) speaks for a window of".replace(",", " ") in found.err
        assert f"--window {window}" in found.err
        assert run("replay", path, "--bundle", "built-in", "--window", window).err == ""
