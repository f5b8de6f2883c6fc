"""Output that cannot be written is one clear line and status 2, whatever the command; a reader may go away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "--help": ["--help"],
    "--version": ["--version"],
    "help of a command": ["run", "--help"],
    "rules": ["rules"],
    "explain": ["explain", "yaml"],
    "context": ["context", "--window", "200000"],
    "lint": ["lint", "bad.yaml"],
    "eval": ["eval", "tips", "--example", "--bundle", "built-in"],
    "run": ["run", "hi"],
    "replay": ["replay", "session.jsonl"],
    "replay as JSON": ["replay", "session.jsonl", "--format", "json"],
}
SESSION = (
    '{"uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"user",'
    '"message":{"role":"user","parts":[{"text":"hi"}]}}\n'
    '{"uuid":"2","sessionId":"s","timestamp":"2026-01-01T00:00:01Z","type":"assistant","model":"m",'
    '"message":{"role":"model","parts":[{"text":"hello"}]},'
    '"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2}}\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.yaml").write_text("a: [1\n")
    (tmp_path / "session.jsonl").write_text(SESSION)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_output_that_cannot_be_written_is_one_line(name: str, folder: Path) -> None:
    # A file that was opened for reading: writing to it fails as writing to a full disk does.
    with (folder / "bad.yaml").open("rb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "policyengine", *COMMANDS[name]], cwd=folder, stdout=closed, stderr=subprocess.PIPE,
            text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "policyengine: the output cannot be written: " in done.stderr
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("name", ["--help", "rules", "run"])
def test_a_reader_that_goes_away_is_no_error(name: str, folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "policyengine", *COMMANDS[name]], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        status = process.wait(timeout=120)
    assert status == 141
    assert "Traceback" not in said
    assert "internal error" not in said


def test_what_stands_beside_the_answer_does_not_hold_it_up(folder: Path) -> None:
    with (folder / "bad.yaml").open("rb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "policyengine", "run", "hi"], cwd=folder, stdout=subprocess.PIPE, stderr=closed,
            text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0
    assert "scripted answer" in done.stdout
