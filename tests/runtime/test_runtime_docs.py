"""docs/runtime.md: its code runs, and every test it names exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SHOWN = ["TurnEnded", "auto True auto_reached\naccepted\n", "fast fast\n"]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_the_code_runs(number: int, tmp_path: Path) -> None:
    assert len(BLOCKS) == len(SHOWN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", BLOCKS[number]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert SHOWN[number] in done.stdout


def test_every_named_test_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert len(named) > 20
    assert sorted(name for name in named if f"def {name}(" not in sources) == []
