"""What the README and docs show was printed by the commands that stand beside it.

A ```console block holds one `$ command` and its output; a block after `<!-- include PATH -->` holds that file (with
`until LINE`, as far as that line).
`python -m tests.printed --write` runs the commands in the checkout and writes what they print; a test checks that
nothing differs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_CONSOLE = re.compile(r"^```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(
    r"^<!-- include (?P<path>\S+)(?: until (?P<until>\S+))? -->\n+```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def pages() -> list[Path]:
    """The README and every page of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def current(text: str) -> str:
    """The page with what its commands print now."""
    text = _CONSOLE.sub(lambda found: f"```console\n$ {found['command']}\n{_output(found['command'])}```", text)
    return _INCLUDE.sub(_included, text)


def _included(found: re.Match[str]) -> str:
    text = (ROOT / found["path"]).read_text(encoding="utf-8").rstrip("\n")
    until = ""
    if found["until"]:
        until = f" until {found['until']}"
        lines = text.splitlines()
        text = "\n".join(lines[: next(at for at, line in enumerate(lines) if line.strip() == found["until"])])
    return f"<!-- include {found['path']}{until} -->\n\n```{found['language']}\n{text}\n```"


def _output(command: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.rstrip() for line in (done.stdout + done.stderr).rstrip("\n").splitlines()]
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
