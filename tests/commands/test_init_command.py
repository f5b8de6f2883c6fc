"""`policyengine init` writes a bundle that lints clean, is laid out, passes its tests and knows its schemas."""

import json
import re
from pathlib import Path

import pytest
import yaml

from policyengine.source.yaml import read_documents
from tests.conftest import ROOT


@pytest.fixture
def starter(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("init", "--owner", "my team")
    assert (found.status, found.err) == (0, "")
    assert "files of tests to policies" in found.out
    return tmp_path / "policies"


def data(file):
    (document,), findings = read_documents(file)
    assert not findings
    return document.data


def test_it_lints_clean_and_is_laid_out(run, starter):
    assert run("lint").out == "No findings.\n"
    assert run("fmt", "--check").status == 0


def test_its_tests_pass(run, starter):
    found = run("test", "policies")
    assert found.status == 0, found.out[-2000:]


def test_every_file_points_at_a_schema_that_holds_for_it(starter):
    files = sorted(starter.rglob("*.yaml"))
    assert len(files) > 20
    for file in files:
        text = file.read_text(encoding="utf-8")
        found = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert found, file
        schema = json.loads((file.parent / found[1]).read_text(encoding="utf-8"))
        assert schema["properties"]["kind"]["const"] == data(file)["kind"]


def test_references_between_schemas_lead_somewhere(starter):
    for file in (starter / ".schemas").rglob("*.json"):
        for target in re.findall(r'"\$ref": "([^"#]+)', file.read_text(encoding="utf-8")):
            assert (file.parent / target).is_file(), (file, target)


def test_the_owner_is_the_one_given(starter):
    owners = {data(file)["metadata"].get("owner") for file in starter.rglob("*.yaml")}
    assert owners == {"my team"}


def test_nothing_is_overwritten(run, starter):
    found = run("init")
    assert found.status == 2
    assert "is not empty" in found.err


def test_an_owner_that_would_not_be_plain_text_is_refused(run, tmp_path):
    assert run("init", tmp_path / "new", "--owner", "a: b #").status == 2
    assert not (tmp_path / "new").exists()


def test_hooks_and_action_call_commands_that_exist():
    from policyengine.commands import COMMANDS

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    called = [hook["entry"].split()[1] for hook in hooks]
    for step in action["runs"]["steps"]:
        called += re.findall(r"policyengine (\w+) --?", step.get("run", ""))
        called += re.findall(r"policyengine (\w+) \"\$", step.get("run", ""))
    assert {"lint", "fmt", "test"} <= set(called) <= set(COMMANDS)
    assert {hook["id"] for hook in hooks} == {f"policyengine-{name}" for name in ("lint", "fmt", "test")}
    for step in action["runs"]["steps"]:
        # An expression inside a script would run what a pull request wrote; values come by the environment.
        assert "${{" not in step.get("run", "")


def test_the_schemas_come_from_the_package(starter):
    assert (starter / ".schemas" / "common.schema.json").read_text() == Path(
        ROOT / "schemas" / "common.schema.json"
    ).read_text()
