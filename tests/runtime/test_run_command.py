"""`policyengine run`: a turn in the terminal, with tools that only read, and nothing secret anywhere."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from policyengine.runtime.read_only_tools import read_only_tools
from policyengine.runtime.tools import ToolOutput
from policyengine.sessions import read
from tests.runtime.run_kit import run, script_of

SCRIPT = script_of(
    """\
  - when: {model: small}
    events:
      - text: "half an ans"
      - call: {name: read_file, arguments: {path: a.txt}}
      - finish: tool_calls
  - events:
      - text: "I will look. "
      - call: {name: grep, arguments: {pattern: "needle"}}
      - call: {name: read_file, arguments: {path: ../outside.txt}}
      - usage: {input: 900, output: 30}
      - finish: tool_calls
"""
)
KEY = "sk-SECRETKEY0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "project"
    inner.mkdir()
    (inner / "a.txt").write_text("hay\nneedle\nhay\n")
    (tmp_path / "outside.txt").write_text("not for you")
    (inner / "script.yaml").write_text(SCRIPT)
    return inner


def test_a_turn_shows_its_decisions_and_saves_what_replay_reads(folder: Path) -> None:
    done = run(
        folder, "where is the needle?", "--script", "script.yaml", "--primary", "big", "--save", "s.jsonl",
        "--log", "log.jsonl", "--window", "100000",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "I will look. \nIt is in a.txt.\n"
    assert "tool grep: " in done.stderr
    assert "tool read_file: error" in done.stderr
    assert "after the tools: primary" in done.stderr
    session = read(folder / "s.jsonl")
    assert [(c.name, c.result.error) for c in session.rounds[0].calls if c.result] == [
        ("grep", False),
        ("read_file", True),
    ]
    assert "a.txt:2: needle" in (folder / "s.jsonl").read_text()
    assert "not for you" not in (folder / "s.jsonl").read_text()
    records = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert {"Ladder", "Routing", "Directives"} <= {record["kind"] for record in records}
    assert "needle" not in (folder / "log.jsonl").read_text()
    again = run(folder, "and now?", "--script", "script.yaml", "--resume", "s.jsonl", "--save", "s.jsonl", "-q")
    assert (again.returncode, again.stderr) == (0, "")
    assert len(read(folder / "s.jsonl").turns) == 2


def test_withdrawn_text_is_no_part_of_the_answer(folder: Path) -> None:
    script = SCRIPT.replace("      - call: {name: read_file, arguments: {path: ../outside.txt}}\n", "")
    (folder / "script.yaml").write_text(script)
    models = ("--primary", "big", "--fast", "small", "--fast-window", "100000")
    done = run(folder, "show the needle", "--script", "script.yaml", *models)
    assert done.returncode == 0
    assert "fell back from small to big: tool_call_seen" in done.stderr
    assert "half an ans" not in done.stdout


def test_the_demonstration_needs_nothing(folder: Path) -> None:
    done = run(folder, "what is here?")
    assert done.returncode == 0
    assert "scripted answer" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x", "--provider", "anthropic", "--script", "script.yaml"], "--script is for the scripted provider"),
        (["x", "--base-url", "http://127.0.0.1:1"], "the scripted provider has no server"),
        (["x", "--resume", "nowhere.jsonl"], "cannot be read"),
        (["  "], "the message is empty"),
    ],
)
def test_what_cannot_be_run_is_one_line(folder: Path, arguments: list[str], says: str) -> None:
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_keys_appear_nowhere(folder: Path) -> None:
    pytest.importorskip("openai")
    arguments = ["tell me", "--provider", "openai", "--base-url", "http://127.0.0.1:9/v1", "--primary", "m"]
    bundle = folder / "bundle"
    import shutil

    from policyengine.source.resources import policies_folder

    shutil.copytree(policies_folder(), bundle)
    retry = bundle / "retry.yaml"
    retry.write_text(retry.read_text().replace("[500, 2000, 8000]", "[0, 0, 0]"))
    done = run(folder, *arguments, "--bundle", "bundle", "--save", "s.jsonl", "--log", "l.jsonl", OPENAI_API_KEY=KEY)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    written = (folder / "s.jsonl").read_text() + (folder / "l.jsonl").read_text()
    assert "SECRETKEY" not in done.stdout + done.stderr + written


def _tools(folder: Path) -> dict[str, object]:
    return {tool.name: tool.run for tool in read_only_tools(folder)}


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "link.txt", "sub/../../outside.txt", "a\0b"])
def test_no_tool_leaves_the_folder(folder: Path, path: str) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "outside.txt")
    (folder / "sub").mkdir()
    tools = _tools(folder)
    for name, more in (("read_file", {}), ("list_directory", {}), ("grep", {"pattern": "."}), ("git_log", {})):
        given = tools[name]({"path": path, **more})  # type: ignore[operator]
        assert isinstance(given, ToolOutput)
        assert given.error
        assert "not for you" not in given.text


def test_grep_does_not_follow_links_out_and_does_not_run_for_ever(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "outside.txt")
    (folder / "long.txt").write_text("a" * 50_000 + "b")
    tools = _tools(folder)
    found = tools["grep"]({"pattern": "not for you|(a+)+$"})  # type: ignore[operator]
    assert "not for you" not in found.text
    assert tools["grep"]({"pattern": "("}).error  # type: ignore[operator]


@pytest.mark.parametrize("revision", ["--output=x", "HEAD:../outside.txt", "-p", "HEAD;ls", "a b"])
def test_a_revision_is_no_option_and_no_file(folder: Path, revision: str) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    tools = _tools(folder)
    for name in ("git_show", "git_diff"):
        assert tools[name]({"revision": revision}).error  # type: ignore[operator]
    assert not (folder / "x").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_refused_and_nobody_waits_for_it(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    tools = _tools(folder)
    for path in ("pipe", "link"):
        for name, more in (("read_file", {}), ("grep", {"pattern": "."}), ("list_directory", {})):
            assert tools[name]({"path": path, **more}).error  # type: ignore[operator]
    assert tools["read_file"]({"path": "pipe"}).text == "this is no regular file"  # type: ignore[operator]
    assert "a.txt:2: needle" in tools["grep"]({"pattern": "needle"}).text  # type: ignore[operator]


def test_what_is_not_there_is_said(folder: Path) -> None:
    (folder / "round").symlink_to("round")
    tools = _tools(folder)
    for path in ("nowhere", "round"):
        for name, more in (("read_file", {}), ("grep", {"pattern": "."}), ("list_directory", {})):
            assert tools[name]({"path": path, **more}).error  # type: ignore[operator]


def test_reading_goes_on_where_it_stopped(folder: Path) -> None:
    (folder / "many.txt").write_text("\n".join(f"line {i}" for i in range(1, 5001)))
    tools = _tools(folder)
    first = tools["read_file"]({"path": "many.txt"}).text  # type: ignore[operator]
    assert first.endswith("[3000 more lines from line 2001 on]")
    more = tools["read_file"]({"path": "many.txt", "first_line": 2001, "lines": 1}).text  # type: ignore[operator]
    assert more.startswith("line 2001\n")
    (folder / "binary").write_bytes(b"a\0b")
    assert tools["read_file"]({"path": "binary"}).error  # type: ignore[operator]
    assert "a.txt" in tools["list_directory"]({}).text  # type: ignore[operator]
