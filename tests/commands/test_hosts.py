"""The hooks and the action in their hosts: pre-commit itself, and the action's steps as a runner calls them."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BAD_LINE = "  nonsense: 1\n"


@pytest.fixture
def repository(run, tmp_path, monkeypatch):
    """A repository of a team, with a starter bundle; commands find ours first on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert run("init", "--owner", "my team").status == 0
    return tmp_path


def test_the_action_fits_githubs_schema():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    found = subprocess.run([*command, ROOT / "action.yml"], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr


def steps(**inputs):
    """The steps of the action, one by one, as a runner calls them after installing: (name, status, stdout)."""
    values = {name: stated["default"] for name, stated in ACTION["inputs"].items()} | inputs

    def put_in(text):
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)

    for step in ACTION["runs"]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        wanted = re.fullmatch(r"inputs\.(\w+) (==|!=) '(\w*)'", step.get("if", "inputs.python != ''"))
        if (values[wanted[1]] == wanted[3]) is not (wanted[2] == "=="):
            continue
        environment = os.environ | {name: put_in(value) for name, value in step["env"].items()}
        # What `shell: bash` means on a runner.
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        found = subprocess.run(bash, env=environment, capture_output=True, text=True, timeout=120)
        yield step["name"], found.returncode, found.stdout
        if found.returncode:
            return


def test_the_action_passes_a_good_bundle(repository):
    found = list(steps(sarif="lint.sarif"))
    assert [(name, status) for name, status, _ in found] == [("SARIF", 0), ("Lint", 0), ("Layout", 0), ("Tests", 0)]
    assert '"2.1.0"' in Path("lint.sarif").read_text()


def test_the_action_annotates_a_bad_one(repository, monkeypatch):
    file = Path("policies/breaker.yaml")
    file.write_text(file.read_text() + BAD_LINE)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / "summary.md"))
    found = list(steps(sarif="lint.sarif"))
    assert [(name, status) for name, status, _ in found] == [("SARIF", 0), ("Lint", 1)]
    number = len(file.read_text().splitlines())
    assert f"::error file=policies/breaker.yaml,line={number}," in found[-1][2]
    assert "nonsense" in Path("lint.sarif").read_text()
    assert "nonsense" in Path("summary.md").read_text()


def test_the_action_reads_several_folders_and_leaves_out_steps(repository):
    shutil.copytree("policies", "more")
    found = list(steps(path="policies more", fmt="false", test="false"))
    assert [(name, status) for name, status, _ in found] == [("Lint", 0)]


@pytest.mark.soak
@pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed: pip install pre-commit")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="pre-commit takes hooks from a git repository")
def test_pre_commit_runs_the_hooks(repository, monkeypatch):
    def git(*words, cwd=None):
        subprocess.run(["git", *words], check=True, cwd=cwd, capture_output=True)

    def hooks():
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
        found = subprocess.run(command, capture_output=True, text=True, timeout=600)
        return dict(re.findall(r"^policyengine (\w+)\.+(Passed|Failed)$", found.stdout, re.MULTILINE)), found.stdout

    monkeypatch.setenv("PRE_COMMIT_HOME", str(repository / "cache"))
    revision = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    ids = [{"id": hook["id"]} for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())]
    config = {"repos": [{"repo": str(ROOT), "rev": revision, "hooks": ids}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git("init", "-q")
    git("add", "policies", ".pre-commit-config.yaml")
    said, output = hooks()
    assert said == dict.fromkeys(("lint", "fmt", "test"), "Passed"), output

    file = Path("policies/breaker.yaml")
    file.write_text(file.read_text().replace("kind: ", "kind:   ") + BAD_LINE)
    git("add", "policies")
    said, output = hooks()
    assert said == dict.fromkeys(("lint", "fmt", "test"), "Failed"), output
    assert "unknown key `nonsense`" in output
    assert "kind:   " not in file.read_text()  # fmt has mended the layout in place
