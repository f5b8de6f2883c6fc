"""Every lint rule fires once on its bad case, at the stated place, and not on its good one.

A case is a folder `cases/CODE/`: `bad.yaml`, `good.yaml` (`.toml` for the configuration), and `expected.yaml` with the
place in the bad file. Adding a case needs no Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policyengine.check.lint.config import Config, read_config
from policyengine.check.lint.engine import lint
from policyengine.check.lint.registry import BY_CODE, RULES
from policyengine.source.finding import Finding

CASES = Path(__file__).parent / "cases"
CODES = sorted(folder.name for folder in CASES.iterdir())


def _findings(folder: Path, name: str) -> list[Finding]:
    file = folder / f"{name}.toml"
    if file.exists():
        return list(read_config(file).findings)
    return list(lint(folder / f"{name}.yaml", Config()).findings)


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(rule.code for rule in RULES) == CODES
    assert len(BY_CODE) == len(RULES)


@pytest.mark.parametrize("code", CODES)
def test_the_bad_case_is_found_once_at_its_place(code: str) -> None:
    (finding,) = _findings(CASES / code, "bad")
    place = finding.place
    expected = yaml.safe_load((CASES / code / "expected.yaml").read_text())
    found = {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }
    assert (finding.code, found) == (code, expected), str(finding)
    assert finding.severity == BY_CODE[code].severity
    assert "\n" not in finding.message + (finding.hint or "")


@pytest.mark.parametrize("code", CODES)
def test_the_good_case_has_no_findings(code: str) -> None:
    assert not [str(finding) for finding in _findings(CASES / code, "good")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_says_what_it_is_about(rule: object) -> None:
    for text in ("code", "title", "why", "bad", "good"):
        assert getattr(rule, text).strip()
    assert not rule.title.endswith(".")  # type: ignore[attr-defined]
