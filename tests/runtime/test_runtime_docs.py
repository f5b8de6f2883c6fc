"""docs/runtime.md: every test it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runtime.md").read_text(encoding="utf-8")


def test_every_named_test_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert len(named) > 20
    assert sorted(name for name in named if f"def {name}(" not in sources) == []
