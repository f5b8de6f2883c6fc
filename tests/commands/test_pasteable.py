"""What `diff` and `verify` offer for copying runs in a plain `sh`, whatever is in the input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from policyengine.commands.pasteable import eval_command
from tests.conftest import ROOT

TABLE = """apiVersion: policyengine/v1
kind: Table
metadata: {name: echo, version: 1.0.0, owner: me, description: d}
spec:
  input: {type: object, required: [text], additionalProperties: false, properties: {text: {type: string}}}
  rules: [{id: all, compute: {text: text}}]
  on_error: {text: null}
"""

TEXTS = [
    "plain",
    "it's",
    '"',
    "$HOME `date` $(date)",
    "a\\nb\nc\t\\",
    "%s %d %%",
    "! !!",
    "ünï 中文",
    "",
    "-n",
    "'\\''",
]


@pytest.fixture
def shell(tmp_path):
    """Runs a line with sh, where `policyengine` is this checkout."""
    sh = shutil.which("sh")
    if sh is None:
        pytest.skip("there is no sh on this machine")
    tools = tmp_path / "bin"
    tools.mkdir()
    program = tools / "policyengine"
    program.write_text(f'#!{sh}\nexec "{sys.executable}" "{ROOT / "cli.py"}" "$@"\n')
    program.chmod(0o755)

    def call(line):
        path = f"{tools}:/usr/bin:/bin"
        return subprocess.run(
            [sh, "-c", line], capture_output=True, text=True, env={"PATH": path, "LC_ALL": "C.UTF-8"}, cwd=tmp_path
        )

    return call


@pytest.mark.parametrize("folder", ["policies", "it's a $folder"])
def test_a_line_to_paste_decides_on_the_very_input(tmp_path, shell, folder):
    bundle = tmp_path / folder
    bundle.mkdir()
    (bundle / "echo.yaml").write_text(TABLE)
    lines = [f"{eval_command('echo', folder, {'text': text})} --format json" for text in TEXTS]
    done = shell("; ".join(lines))
    assert done.stderr == ""
    decoder, at, seen = json.JSONDecoder(), 0, []
    while at < len(done.stdout.rstrip()):
        one, at = decoder.raw_decode(done.stdout, at)
        at += 1
        seen.append(one["decision"]["text"])
    assert seen == TEXTS


def test_diff_and_verify_offer_such_lines(tmp_path, run, shell):
    for name, value in (("one", "a"), ("two", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.yaml").write_text(
            TABLE.replace("compute: {text: text}", f"""when: 'text == "it is $HOME"', outcome: {{text: {value}}}""")
        )
    shown = run("diff", tmp_path / "one", tmp_path / "two").out
    (line,) = [line for line in shown.splitlines() if "policyengine eval" in line]
    done = shell(line)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"b"' in done.stdout


def test_no_page_shows_what_only_some_shells_know():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert [page.name for page in pages if "<<<" in Path(page).read_text(encoding="utf-8")] == []
