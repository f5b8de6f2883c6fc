"""`policyengine init` writes a bundle that lints clean, is laid out, passes its tests and knows its schemas."""

import json
import re
from pathlib import Path

import pytest
import yaml

from policyengine.kinds.bundle import load
from policyengine.source.yaml import read_documents
from tests.conftest import ROOT


@pytest.fixture
def starter(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("init", "--owner", "my team")
    assert (found.status, found.err) == (0, "")
    return tmp_path / "policies"


def count(folder, pattern):
    return sum(1 for _ in folder.rglob(pattern))


def test_it_says_what_it_wrote_and_what_to_do_next(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("init", "agents/policies", "--owner", "my team").out
    folder = tmp_path / "agents" / "policies"
    tests = count(folder, "*.test.yaml")
    policies, schemas = count(folder, "*.yaml") - tests - 1, count(folder / ".schemas", "*.json")
    assert f"  {policies} policies, and bundle.yaml\n  {tests} files of tests beside them\n  {schemas} schemas" in said
    assert count(folder, "*.*") == policies + tests + schemas + 2  # and bundle.yaml and .schemas themselves
    assert "policyengine lint agents/policies" in said
    for file in re.findall(r"^  edit (\S+)  ", said, re.MULTILINE):
        assert Path(file).is_file()
    assert said.count("  edit ") == 3


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


def test_without_an_owner_there_is_none_and_lint_says_so(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "nobody owns the policies yet" in run("init").out
    assert {data(file)["metadata"].get("owner") for file in (tmp_path / "policies").rglob("*.yaml")} == {None}
    found = run("lint", "--format", "json")
    assert found.status == 0
    assert {finding["code"] for finding in found.json["findings"]} == {"missing-owner"}


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["My Team_Policies"], "my-team-policies"),
        (["agents/policies"], "policies"),
        (["x", "--name", "team-a"], "team-a"),
    ],
)
def test_the_bundle_is_called_after_its_folder_or_as_asked(args, name, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("init", *args)
    assert f"wrote the bundle {name} to " in found.out
    assert load(args[0]).name == name
    assert data(Path(args[0], "bundle.yaml"))["metadata"]["description"] == "Begun as a copy of the built-in bundle."


@pytest.mark.parametrize(
    ("args", "says"), [(["策略"], "give it a name with --name"), (["x", "--name", "A b"], "no name")]
)
def test_a_name_that_is_none_is_refused(args, says, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("init", *args)
    assert (found.status, Path(args[0]).exists()) == (2, False)
    assert says in found.err


def test_the_configuration_of_the_repository_holds_for_the_new_bundle(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.policyengine.lint.rules]\nmissing-owner = "error"\n')
    run("init")
    assert run("lint").status == 1


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


@pytest.mark.parametrize("kinds", [("Ladder",), ("Routing", "Tips"), ("WordLists",)])
def test_a_bundle_of_some_kinds_extends_the_built_in_one(run, tmp_path, kinds):
    folder = tmp_path / "small"
    assert run("init", folder, "--owner", "us", *(word for kind in kinds for word in ("--only", kind))).status == 0
    found = {data(file)["kind"] for file in folder.rglob("*.yaml")}
    assert found == {"Bundle", "Tests", *kinds}
    assert run("lint", folder).out == "No findings.\n"
    assert run("fmt", "--check", folder).status == 0
    tested = run("test", folder, "--coverage", "--min", "100")
    assert tested.status == 0, tested.out[-2000:]
    assert run("context", "--bundle", folder, "--window", "200000").status == 0


def test_a_table_has_no_built_in_one_so_the_example_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("init", "small", "--owner", "us", "--only", "Table").out
    assert "  2 policies, and bundle.yaml\n  1 file of tests beside them\n" in said
    assert "edit small/review.yaml" in said
    assert run("lint", "small").out == "No findings.\n"
    assert run("fmt", "--check", "small").status == 0
    assert run("test", "small", "--coverage", "--min", "100").status == 0
    assert data(tmp_path / "small" / "review.yaml")["metadata"]["owner"] == "us"


def test_a_kind_for_a_bundle_that_is_there_is_written_elsewhere_and_moved(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("init", "small", "--owner", "us", "--only", "Tips")
    found = run("init", "small", "--only", "Retry")
    assert (found.status, found.out) == (2, "")
    assert "policyengine init DIR --only Retry, and move the policies and tests that you want" in found.err
    run("init", "more", "--owner", "us", "--only", "Retry")
    for name in ("retry.yaml", "retry.test.yaml"):
        (tmp_path / "more" / name).rename(tmp_path / "small" / name)
    assert run("lint", "small").out == "No findings.\n"
    assert run("test", "small").status == 0


def test_an_unknown_kind_is_refused(run, tmp_path):
    found = run("init", tmp_path / "small", "--only", "Ladders")
    assert (found.status, "did you mean `Ladder`?" in found.err) == (2, True)
    assert not (tmp_path / "small").exists()
