"""`policyengine run`: what is shown where a round is skipped, files that are looked at first, stops, limits."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from policyengine.sessions import read
from tests.runtime.peers.dialects import DIALECTS
from tests.runtime.peers.server import Peer, answer
from tests.runtime.run_kit import command_line, run, script_of

SCRIPT = script_of(
    """\
  - when: {last_role: user}
    events:
      - call: {name: read_file, arguments: {path: a.txt}}
      - usage: {input: 900, output: 30}
      - finish: tool_calls
"""
)
ENDLESS = SCRIPT.replace('- text: "It is', '- text: "half"\n      - delay_ms: 600000\n      - text: "It is')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hay\nneedle\n")
    (tmp_path / "b.txt").write_text("more\n")
    (tmp_path / "script.yaml").write_text(SCRIPT)
    (tmp_path / "endless.yaml").write_text(ENDLESS)
    return tmp_path


def test_where_the_round_is_skipped_what_the_tool_gave_is_the_answer(folder: Path) -> None:
    done = run(folder, "show me a.txt", "--script", "script.yaml")
    assert (done.returncode, done.stdout) == (0, "hay\nneedle\n")
    assert "after the tools: skip" in done.stderr
    assert "--always-summarize" in done.stderr
    quiet = run(folder, "show me a.txt", "--script", "script.yaml", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("hay\nneedle\n", "")


def test_several_results_are_told_apart(folder: Path) -> None:
    more = "      - call: {name: read_file, arguments: {path: b.txt}}\n      - usage: {input: 900"
    (folder / "script.yaml").write_text(SCRIPT.replace("      - usage: {input: 900", more))
    done = run(folder, "show me both", "--script", "script.yaml", "-q")
    assert done.stdout == "[read_file]\nhay\nneedle\n[read_file]\nmore\n"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_person_can_have_every_answer_summarized(folder: Path, resumed: bool) -> None:
    more: list[str] = []
    if resumed:
        run(folder, "show me a.txt", "--script", "script.yaml", "--save", "s.jsonl", "-q")
        more = ["--resume", "s.jsonl"]
    done = run(folder, "show me a.txt", "--script", "script.yaml", "--always-summarize", "-q", *more)
    assert (done.returncode, done.stdout) == (0, "It is in a.txt.\n")


REFUSED: dict[str, tuple[list[str], str]] = {
    "one file for session and log": (["--save", "f", "--log", "f"], "--save and --log name the same file f"),
    "the same by another way": (["--save", "f", "--log", "sub/../f"], "name the same file"),
    "the same by a link": (["--save", "link", "--log", "notes.md"], "name the same file"),
    "one file for state and log": (["--state", "f.db", "--log", "f.db"], "--log and --state name the same file"),
    "the script as log": (["--log", "script.yaml"], "--log and --script name the same file"),
    "a resumed session as log": (["--resume", "s.jsonl", "--log", "s.jsonl"], "--log and --resume name the same file"),
    "a text as log": (["--log", "notes.md"], "notes.md: this file is no decision log"),
    "a text as session": (["--save", "notes.md"], "notes.md: this file is no session that was saved here"),
    "a folder that is not there": (["--save", "no/such/s.jsonl"], "the session cannot be saved here: No such file"),
    "a folder as session": (["--save", "sub"], "this is a folder; --save takes a file"),
    "a device as session": (["--save", os.devnull], "this is no regular file"),
    "a name for the cap that nobody needs": (["--cap-field", "max_tokens"], "--cap-field is for openai and qwen"),
    "strings where all contents are taken": (["--plain-text"], "--plain-text is for openai and qwen; the provider "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_fail_or_overwrite_is_refused_before_a_model_is_asked(name: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "notes.md").write_text("my notes\n")
    (folder / "link").symlink_to("notes.md")
    (folder / "s.jsonl").write_text('{"uuid":"1"}\n')
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    arguments, said = REFUSED[name]
    script = [] if "--script" in arguments else ["--script", "script.yaml"]
    done = run(folder, "show me a.txt", *script, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "round 1" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path: path.read_bytes() for path in folder.iterdir() if path in before} == before


def test_a_session_may_be_saved_where_it_was(folder: Path) -> None:
    for more in ([], ["--resume", "s.jsonl"], []):
        done = run(folder, "show me a.txt", "--script", "script.yaml", "--save", "s.jsonl", "-q", *more)
        assert done.returncode == 0, done.stderr


def _stopped(folder: Path, name: str, number: int) -> tuple[int, str, int]:
    """Status, what was said, and how many records there are of a turn that is stopped while its answer streams."""
    command = command_line("show me", "--script", "endless.yaml", "--save", f"{name}.s", "--log", f"{name}.l")
    with subprocess.Popen(
        [*command, "--always-summarize"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell ignores SIGINT in what it starts in the background, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr is not None
        watch = threading.Timer(60, process.kill)
        watch.start()
        said = ""
        for line in process.stderr:
            said += line
            if "context" in line and "round 2" in said:
                break
        # The answer has begun and says nothing more.
        time.sleep(1)
        process.send_signal(number)
        said += process.stderr.read()
        status = process.wait(timeout=60)
        watch.cancel()
    return status, said, len((folder / f"{name}.l").read_text().splitlines())


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no such signals")
def test_a_stop_from_outside_keeps_session_and_records(folder: Path) -> None:
    status, _, records = _stopped(folder, "int", signal.SIGINT)
    assert status == 130
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name)
        status, said, found = _stopped(folder, name, number)
        assert status == 128 + number
        assert f"stopped by {name}" in said
        assert "Traceback" not in said
        assert found == records
        assert len(read(folder / f"{name}.s").turns) == 1
        assert json.loads((folder / f"{name}.l").read_text().splitlines()[-1])["chain"]


def test_a_window_that_nobody_knows_is_said_once_with_the_option_that_states_it(folder: Path) -> None:
    models = ["--primary", "big", "--fast", "small"]
    done = run(folder, "show me", "--script", "script.yaml", "--always-summarize", *models)
    assert done.stderr.count("the window of big is unknown") == 1
    assert done.stderr.count("the window of small is unknown") == 1
    assert "state it with --window N" in done.stderr
    assert "(would_compress)" in done.stderr
    assert "state it with --fast-window N" in done.stderr
    known = run(folder, "show me", "--script", "script.yaml", *models, "--window", "9000", "--fast-window", "9000")
    assert "is unknown" not in known.stderr


def test_the_first_command_of_a_newcomer_warns_of_nothing(folder: Path) -> None:
    for more in ([], ["--fast", "small"]):
        done = run(folder, "what is in this folder?", *more)
        assert (done.returncode, "warning" in done.stderr) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ([], 9_000),
        (["--window", "150000"], 150_000),
        # What the catalogue knows comes before what a script says of models that nobody knows.
        (["--primary", "claude-fable-5-2"], 1_000_000),
    ],
)
def test_a_script_says_the_window_of_models_that_nobody_else_knows(
    folder: Path, arguments: list[str], window: int
) -> None:
    (folder / "script.yaml").write_text(SCRIPT.replace("streams:", "window: 9000\nstreams:"))
    done = run(folder, "show me", "--script", "script.yaml", *arguments)
    assert "is unknown" not in done.stderr
    left = re.search(r", ([\d ]+) until compaction", done.stderr)
    assert left is not None
    assert window / 2 < int(left[1].replace(" ", "")) < window


KEYS = {
    "openai": "OPENAI_API_KEY", "openai-responses": "OPENAI_API_KEY", "qwen": "DASHSCOPE_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY",
}  # fmt: skip
SDKS = {"anthropic": "anthropic", "gemini": "google.genai"}


@pytest.mark.parametrize("provider", KEYS)
def test_a_missing_key_names_the_variable_that_takes_it(provider: str, folder: Path) -> None:
    pytest.importorskip(SDKS.get(provider, "openai"))
    done = run(folder, "hi", "--provider", provider, "-q")
    assert done.returncode == 2
    assert f"set {KEYS[provider]}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_the_catalogue_lacks_gets_its_output_limit_from_the_person(folder: Path) -> None:
    pytest.importorskip("anthropic")
    arguments = ["hi", "--provider", "anthropic", "--primary", "new-model", "--window", "200000", "-q"]
    done = run(folder, *arguments, ANTHROPIC_API_KEY="sk-none", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    assert done.returncode == 2
    assert "needs an output cap" in done.stderr
    assert "--max-output N" in done.stderr


@pytest.mark.parametrize("option", [False, True])
def test_plain_text_sends_nothing_but_strings_as_contents(option: bool, folder: Path) -> None:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    dialect = DIALECTS["openai"]
    called = dialect.calls([("c1", "read_file", ['{"path": "a.txt"}'])])
    said = (*dialect.opening, dialect.text_event("fine"), *dialect.ending)

    async def ask() -> list[object]:
        async with Peer([answer(*called), answer(*said)]) as peer:
            command = command_line("what is in a.txt?", "--provider", "openai", "--base-url", f"{peer.url}/v1")
            more = ["--primary", "m", "--window", "100000", "--always-summarize", *(["--plain-text"] * option)]
            process = await asyncio.create_subprocess_exec(
                *command, *more, cwd=folder, env={**os.environ, "OPENAI_API_KEY": "k"},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            _, errors = await process.communicate()
            assert process.returncode == 0, errors
            return [message["content"] for message in peer.body["messages"]]

    contents = asyncio.run(ask())
    assert (None in contents) is not option
    if option:
        assert all(isinstance(content, str) for content in contents)


TRICKS = """\
apiVersion: policyengine/v1
kind: Script
streams:
  - events:
      - text: "你好\\u3000done\\r\\n\\tnext \\e]0;title\\a \\e[2J \\u202Eturned"
      - finish: stop
"""


def test_a_terminal_does_not_act_on_what_a_model_writes(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(TRICKS, encoding="utf-8")
    arguments = ("hello", "--script", "script.yaml", "--quiet")
    ours, theirs = pty.openpty()
    with subprocess.Popen(command_line(*arguments), cwd=tmp_path, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        assert process.wait(60) == 0
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert shown.split("\r\n") == ["你好\u3000done", "\tnext \\x1b]0;title\\x07 \\x1b[2J \\x202eturned", ""]
    piped = subprocess.run(command_line(*arguments), cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert piped.stdout.decode() == "你好\u3000done\r\n\tnext \x1b]0;title\x07 \x1b[2J \u202eturned\n"
