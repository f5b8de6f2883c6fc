"""docs/ci.md: every command of its pipelines runs, and what it says of formats and inputs is what there is."""

import importlib
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
import yaml

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
CI = ROOT / "examples" / "ci"
BASH = ["bash", "--noprofile", "--norc", "-e", "-c"]
needs_z3 = pytest.mark.skipif(find_spec("z3") is None, reason="z3 is not installed: pip install '.[proofs]'")


def rows(head):
    """The rows of the page's table with this head."""
    found = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row[1:-1].split("|")] for row in found[1].splitlines()]


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.github-workflows", "github.yml"),
        ("vendor.github-workflows", "github-action.yml"),
        ("vendor.gitlab-ci", "gitlab.yml"),
    ],
)
def test_the_pipelines_fit_the_schemas_of_their_hosts(schema, file):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, CI / file]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_page_shows_every_pipeline():
    assert {f"<!-- include examples/ci/{file.name} -->" for file in CI.iterdir()} == set(
        re.findall(r"<!-- include examples/ci/\S+ -->", PAGE)
    )


def test_the_formats_are_those_of_the_commands():
    for name, formats in rows("command | `--format`"):
        command = importlib.import_module(f"policyengine.commands.{name.strip('`')}").command
        (option,) = [one for one in command.params if "--format" in one.opts]
        assert isinstance(option.type, click.Choice)
        assert re.findall(r"`(\w+)`", formats) == list(option.type.choices), name


def test_the_inputs_are_those_of_the_action():
    stated = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    said = {name.strip("`"): default.strip("`") for name, default, _ in rows("input | without it |")}
    assert said == {name: one["default"] for name, one in stated.items()}
    workflow = yaml.safe_load((CI / "github-action.yml").read_text())
    (given,) = [step["with"] for step in workflow["jobs"]["policies"]["steps"] if "OWNER" in step["uses"]]
    assert set(given) <= set(stated)


def test_the_hooks_are_there():
    stated = [hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())]
    (repository,) = yaml.safe_load((CI / "pre-commit.yaml").read_text())["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == stated


@pytest.fixture
def repository(run, tmp_path, monkeypatch):
    """A team's repository with a bundle and a session on main, and nothing of pip or GitHub on its path."""
    monkeypatch.chdir(tmp_path)
    bin_folder = tmp_path / ".bin"
    bin_folder.mkdir()
    for name in ("pip", "gh"):
        tool = bin_folder / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*" >> "$CALLS"\n')
        tool.chmod(0o755)
    path = os.pathsep.join([str(bin_folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("CALLS", str(tmp_path / ".calls"))
    assert run("init", "--owner", "us", "--only", "Ladder").status == 0
    Path("sessions").mkdir()
    Path("sessions/sample.jsonl").symlink_to(ROOT / "examples" / "sample-session.jsonl")
    git = ["git", "-c", "user.name=us", "-c", "user.email=us@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "policies"], ["commit", "-q", "-m", "policies"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    return tmp_path


def change(old, new):
    file = Path("policies/ladders/floor.yaml")
    file.write_text(file.read_text().replace(old, new))


def steps(job, **values):
    """The run steps of a job of github.yml, one by one as a runner calls them: (name, status)."""
    values |= {"github.base_ref": "main", "github.token": "token", "github.event.pull_request.number": "7"}
    failed = False
    for step in yaml.safe_load((CI / "github.yml").read_text())["jobs"][job]["steps"]:
        if "run" not in step or (failed and step.get("if") != "always()"):
            continue
        environment = {
            name: re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1]], value)
            for name, value in step.get("env", {}).items()
        }
        output = Path(".output")
        output.write_text("")
        environment = os.environ | environment | {"GITHUB_OUTPUT": str(output)}
        found = subprocess.run([*BASH, step["run"]], env=environment, capture_output=True, text=True, timeout=120)
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            values[f"steps.{step['id']}.outputs.{name}"] = value
        yield step.get("name", step["run"].split()[0]).split(",")[0], found.returncode
        failed = failed or found.returncode != 0


@needs_z3
def test_githubs_checks_pass_and_fail(repository):
    names = ("pip", "Lint", "Layout", "Tests", "Claims", "Reports")
    assert list(steps("check")) == [(name, 0) for name in names]
    change("pct: 0.7", "pct: 0.8")
    assert list(steps("check")) == [("pip", 0), ("Lint", 0), ("Layout", 0), ("Tests", 1), ("Reports", 0)]
    assert json.loads(Path("lint.sarif").read_text())["version"] == "2.1.0"
    assert int(ElementTree.parse("tests.xml").getroot().get("failures")) > 0


@needs_z3
def test_githubs_comparison_comments_and_holds_to_its_bound(repository):
    change("warn_buffer: 20000", "warn_buffer: 20001")
    assert [status for _, status in steps("diff")] == [0, 0, 0, 0]
    assert "`warn_buffer`" in Path("diff.md").read_text()
    assert "gh pr comment 7 --body-file diff.md" in Path(".calls").read_text()
    change("pct: 0.7", "pct: 0.2")
    change("autocompact_buffer: 13000", "autocompact_buffer: 130000")
    assert [status for _, status in steps("diff")] == [0, 0, 0, 1]


@needs_z3
def test_gitlabs_job_writes_its_reports_also_where_it_fails(repository):
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["policies"]

    def work():
        return subprocess.run([*BASH, "\n".join(job["script"])], capture_output=True, text=True, timeout=120).returncode

    assert work() == 0
    change("pct: 0.7", "pct: 0.8")
    assert work() == 1
    reports = job["artifacts"]["reports"]
    (finding,) = json.loads(Path(reports["codequality"]).read_text())
    assert (finding["check_name"], finding["severity"]) == ("self-hosting", "minor")
    assert int(ElementTree.parse(reports["junit"]).getroot().get("failures")) > 0
