"""Names in policy tests that the bundle does not have, wherever a test may name a policy or a rule."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.source.resources import policies_folder

NAMED = [
    # the spec of a Tests document, pieces that are unknown, in order
    ("policy: retyr\ncases: [{name: a, rule: tool_call_seen}]", ["retyr"]),
    ("policy: retry\ncases: [{name: a, rule: wrong_one}]", ["wrong_one"]),
    ("policy: retry\ncases: [{name: a, rule: [wrong_one, tool_call_seen]}]", ["wrong_one"]),
    ("policy: retry\ncases: [{name: a, rule: default}, {name: b, rule: on_error}]", []),
    ("cases: [{name: a, policy: retyr, rule: tool_call_seen}]", ["retyr"]),
    ("policy: retry\ncases: [{name: a, policy: tips, rule: tool_call_seen}]", ["tool_call_seen}"]),
    ("policy: retry\ncases: [{name: a, columns: [n, rule], rows: [[1, default], [2, wrong_one]]}]", ["wrong_one"]),
    ("policy: retry\ncases: [{name: a, steps: [{policy: tpis, rule: x}, {rule: wrong_one}]}]", ["tpis", "wrong_one"]),
    ("policy: retry\ncases: [{name: a, variant: {'rules[0].id': mine}, rule: mine}]", []),
    ("policy: word-lists\ncases: [{name: a, rule: anything}]", []),
    ("policy: retry\ncases: [{name: a, errors: [x]}]\nexplained_mutants: [{policy: x, mutant: m, reason: r}]", ["x,"]),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    for name in ("retry", "tips", "word-lists", "prompt-class"):
        shutil.copy(policies_folder() / f"{name}.yaml", folder)
    return folder


def _found(folder: Path, spec: str) -> list[str]:
    text = "apiVersion: policyengine/v1\nkind: Tests\nmetadata: {name: x, version: 1.0.0}\nspec:\n"
    text += "".join(f"  {line}\n" for line in spec.splitlines())
    (folder / "x.test.yaml").write_text(text)
    lines = text.splitlines()
    places = [one.place for one in lint(folder, Config()).findings if one.code == "unknown-in-test"]
    return [lines[place.line - 1][place.column - 1 :] for place in places]


@pytest.mark.parametrize(("spec", "unknown"), NAMED, ids=[row[0] for row in NAMED])
def test_a_name_is_found_where_it_stands(bundle: Path, spec: str, unknown: list[str]) -> None:
    found = _found(bundle, spec)
    assert len(found) == len(unknown)
    assert all(text.startswith(piece) for text, piece in zip(found, unknown, strict=True)), found


def test_what_seems_missing_because_it_is_broken_is_not_said(bundle: Path, tmp_path: Path) -> None:
    shutil.copytree(bundle, tmp_path / "b")
    (tmp_path / "b" / "retry.yaml").write_text("kind: Retry\n")
    assert _found(tmp_path / "b", "policy: retry\ncases: [{name: a, rule: tool_call_seen}]") == []
