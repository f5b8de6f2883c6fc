"""What a shell is given to complete, as click's own scripts ask for it."""

import shutil
import subprocess
import sys

import pytest

from policyengine.commands import COMMANDS
from policyengine.kinds.registry import KINDS
from tests.conftest import ROOT


@pytest.fixture
def completed(run, monkeypatch, tmp_path):
    """The values (and `file`, `dir` for a shell's own) offered for the last word of a line."""
    monkeypatch.chdir(tmp_path)

    def of(line):
        words = line.split(" ")
        monkeypatch.setenv("_POLICYENGINE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        found = run()
        assert (found.status, found.err) == (0, "")
        return [item.partition(",")[2] if item.startswith("plain,") else item for item in found.out.split()]

    return of


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("policyengine ", list(COMMANDS)),
        ("policyengine re", ["replay", "report"]),
        ("policyengine --v", ["--version"]),
        ("policyengine log ch", ["check"]),
        ("policyengine eval fl", ["floor"]),
        ("policyengine eval floor --tr", ["--trace"]),
        ("policyengine verify --policy tip", ["tips"]),
        ("policyengine explain breaker-l", ["breaker-limit"]),
        ("policyengine gate cache", ["cache-hit-rate"]),
        ("policyengine baseline --gate act", ["activation"]),
        ("policyengine replay --ladder ", ["ceiling", "floor", "gap", "proven"]),
        ("policyengine context --ladder ga", ["gap"]),
        ("policyengine context --model claude-haiku-4", ["claude-haiku-4-5", "claude-haiku-4-5-20251001"]),
        ("policyengine log show log.jsonl --kind Rou", ["Routing"]),
        ("policyengine log show log.jsonl --veto w", ["would_compress", "write_tool"]),
        ("policyengine log show log.jsonl --policy kill", ["kill-switch"]),
        ("policyengine log show log.jsonl --rule unresolved", ["unresolved_error"]),
        ("policyengine init --only Lad", ["Ladder"]),
        ("policyengine lint --format s", ["sarif"]),
        ("policyengine eval nothing-like-it", []),
    ],
)
def test_names_are_completed(completed, line, expected):
    assert completed(line) == expected


def test_every_kind_is_offered(completed):
    assert completed("policyengine init --only ") == sorted(KINDS)


@pytest.mark.parametrize(
    "line",
    [
        "policyengine replay ses", "policyengine compress ses", "policyengine lint pol", "policyengine log stats l",
        "policyengine report --log l", "policyengine report -o r", "policyengine eval floor --input i",
        "policyengine context --bundle b", "policyengine diff o", "policyengine run hi --save s",
    ],
)  # fmt: skip
def test_files_are_left_to_the_shell(completed, line):
    assert completed(line) == [f"file,{line.rpartition(' ')[2]}"]


def test_names_of_a_projects_own_bundle(completed, tmp_path):
    policies = tmp_path / "policies"
    policies.mkdir()
    floor = (ROOT / "policies" / "ladders" / "floor.yaml").read_text()
    (policies / "mine.yaml").write_text(floor.replace("name: floor", "name: my-own"))
    assert completed("policyengine eval ") == ["my-own"]
    assert completed("policyengine eval --bundle built-in fl") == ["floor"]


def test_a_bundle_that_cannot_be_read_completes_nothing(completed, tmp_path):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "broken.yaml").write_text("kind: [")
    assert completed("policyengine eval ") == []


def test_a_shell_that_evaluates_the_line_of_the_docs(tmp_path):
    bash = shutil.which("bash")
    line = 'eval "$(_POLICYENGINE_COMPLETE=bash_source policyengine)"'
    assert line in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    if bash is None:
        pytest.skip("there is no bash on this machine")
    (tmp_path / "policyengine").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "cli.py"}" "$@"\n')
    (tmp_path / "policyengine").chmod(0o755)
    script = f"""
        export PATH="{tmp_path}:$PATH"
        {line}
        COMP_WORDS=(policyengine explain breaker-l) COMP_CWORD=2
        _policyengine_completion policyengine breaker-l explain
        echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run([bash, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("breaker-limit\n", "")
