"""What the tests of `policyengine run` share: scripts, and the command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def script_of(streams: str) -> str:
    """A script that plays `streams`, and from then on says that it is in a.txt."""
    return f"""\
apiVersion: policyengine/v1
kind: Script
streams:
{streams}\
  - times: always
    events:
      - text: "It is in a.txt."
      - usage: {{input: 1100, output: 20}}
      - finish: stop
"""


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "policyengine", "run", *arguments]


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`policyengine run` in a folder, with no keys but those of `environment`."""
    around = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    line, given = command_line(*arguments), {**around, **environment}
    return subprocess.run(line, cwd=folder, env=given, capture_output=True, text=True, timeout=120, check=False)
