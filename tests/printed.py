"""What the README and docs show was printed by the commands that stand beside it.

A ```console block holds lines `$ command`, each with its output below it. The commands of a page run one after another
in one scratch folder that holds what the checkout holds, so a page can write files of its own and go on with them.
A block after `<!-- include PATH -->` holds that file (with `from LINE` and `until LINE`, that part), a table after
`<!-- fields SCHEMA#/POINTER -->` the fields of a JSON Schema.
`python -m tests.printed --write` runs the commands and writes what they print; a test checks that nothing differs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import schema_tables

ROOT = Path(__file__).parents[1]
_CONSOLE = re.compile(r"^```console\n(?P<text>\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?P<command>[^\n]+)\n", re.MULTILINE)
_INCLUDE = re.compile(
    r"^<!-- include (?P<path>\S+)(?: from (?P<start>\S+))?(?: until (?P<until>\S+))? -->\n+"
    r"```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FIELDS = re.compile(r"^<!-- fields (?P<address>\S+) -->\n+(?:\|[^\n]*\n)*\n*", re.MULTILINE)
_DECIDED = re.compile(r"policyengine: the (?:built-in bundle|bundle policies) decided \(.*\)")
"""Left out: it holds the digest, which every change of a policy changes, on every page."""
_OWN = (".git", ".venv", ".venv-wheel", "my-policies")
"""What a scratch folder does not take over from the checkout."""


def pages() -> list[Path]:
    """The README and every page of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def current(text: str) -> str:
    """The page with what its commands print now."""
    with tempfile.TemporaryDirectory() as scratch:
        for file in ROOT.iterdir():
            if file.name not in _OWN:
                (Path(scratch) / file.name).symlink_to(file)
        text = _CONSOLE.sub(lambda found: f"```console\n{_session(found['text'], scratch)}```", text)
    return _FIELDS.sub(_table, _INCLUDE.sub(_included, text))


def _session(text: str, folder: str) -> str:
    commands = [found["command"] for found in _COMMAND.finditer(text)]
    return "".join(f"$ {command}\n{_output(command, folder)}" for command in commands)


def _included(found: re.Match[str]) -> str:
    lines = (ROOT / found["path"]).read_text(encoding="utf-8").rstrip("\n").splitlines()
    said = ""
    for name, word in (("start", "from"), ("until", "until")):
        if found[name]:
            said += f" {word} {found[name]}"
            at = next(
                number
                for number, line in enumerate(lines)
                if line.strip().removeprefix("- id: ").startswith(found[name])
            )
            lines = lines[at:] if name == "start" else lines[:at]
    return "\n".join([f"<!-- include {found['path']}{said} -->", "", f"```{found['language']}", *lines, "```"])


def _table(found: re.Match[str]) -> str:
    schema, file = schema_tables.fields(found["address"])
    rows = schema_tables.table("field", list(schema_tables.rows(schema, file)))
    return f"<!-- fields {found['address']} -->\n\n{rows}\n\n"


def _output(command: str, folder: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in (done.stdout + done.stderr).rstrip("\n").splitlines()]
    lines = [line for line in lines if not _DECIDED.fullmatch(line)]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the pages anew, or say which are not current."""
    stale = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = current(text)
        if new != text:
            stale.append(page.relative_to(ROOT))
            if "--write" in sys.argv:
                page.write_text(new, encoding="utf-8")
    print("\n".join(f"{'written' if '--write' in sys.argv else 'not current'}: {page}" for page in stale))
    sys.exit(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    main()
