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
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
BAD_LINE = "  nonsense: 1\n"
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""What `shell: bash` means on a runner."""


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
        found = subprocess.run([*BASH, step["run"]], env=environment, capture_output=True, text=True, timeout=120)
        yield step["name"], found.returncode, found.stdout
        if found.returncode:
            return


@pytest.mark.parametrize(
    ("version", "verify", "told"),
    [
        ("", "false", "/action"),
        ("", "true", "/action[proofs]"),
        ("git+https://host/policyengine@v1", "false", "policyengine @ git+https://host/policyengine@v1"),
        ("git+https://host/policyengine@v1", "true", "policyengine[proofs] @ git+https://host/policyengine@v1"),
        ("dist/policyengine-1.whl", "true", "dist/policyengine-1.whl[proofs]"),
    ],
)
def test_the_action_tells_pip_what_to_install(version, verify, told, tmp_path, monkeypatch):
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Install"]
    assert step["env"].keys() == {"VERSION", "OWN", "VERIFY"}
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nfor last; do :; done\necho "$last"\n')
    python.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "VERSION": version, "OWN": "/action", "VERIFY": verify}
    found = subprocess.run([*BASH, step["run"]], env=environment, capture_output=True, text=True, timeout=60)
    assert found.stdout == f"{told}\n", found.stderr


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


def change_threshold(folder):
    """Change a threshold that tests in the bundle hold fast."""
    file = Path(folder, "ladders", "floor.yaml")
    file.write_text(file.read_text().replace("pct: 0.7", "pct: 0.8"))


def test_the_action_annotates_failing_policy_tests(repository, monkeypatch):
    change_threshold("policies")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository / "summary.md"))
    found = list(steps(fmt="false"))
    assert [(name, status) for name, status, _ in found] == [("Lint", 0), ("Tests", 1)]
    assert "::error file=policies/ladders/floor.test.yaml,line=" in found[-1][2]
    assert "actual auto: 8000; decided by below\\_warn" in Path("summary.md").read_text()


def test_the_action_asks_for_as_much_coverage_as_is_wanted(repository):
    Path("policies/breaker.test.yaml").unlink()
    assert [(name, status) for name, status, _ in steps(fmt="false")] == [("Lint", 0), ("Tests", 1)]
    assert [status for _, status, _ in steps(fmt="false", min_coverage="90")] == [0, 0]
    assert [status for _, status, _ in steps(fmt="false", min_coverage="99.9")] == [0, 1]


@pytest.mark.skipif(find_spec("z3") is None, reason="z3 is not installed: pip install '.[proofs]'")
def test_the_action_proves_what_policies_claim(run, repository):
    shutil.rmtree("policies")
    assert run("init", "--only", "Ladder", "--owner", "my team").status == 0
    found = list(steps(verify="true", fmt="false", test="false"))
    assert [(name, status) for name, status, _ in found] == [("Lint", 0), ("Proofs", 0)]
    file = Path("policies/ladders/floor.yaml")
    file.write_text(file.read_text().replace("window < 66667.0", "window < 66000.0"))
    found = list(steps(verify="true", fmt="false", test="false"))
    assert found[-1][:2] == ("Proofs", 1)
    assert "refuted" in found[-1][2]


def test_the_hook_tests_the_bundle_around_each_file(run, repository):
    """As pre-commit calls it, with the files that have changed."""
    assert run("init", "agents/policies", "--only", "Ladder").status == 0
    (hook,) = [one for one in HOOKS if one["id"] == "policyengine-test"]
    assert hook.get("pass_filenames", True)
    files = ["agents/policies/ladders/floor.yaml", "policies/breaker.yaml"]
    assert run(*hook["entry"].split()[1:], *files).status == 0
    change_threshold("agents/policies")
    found = run(*hook["entry"].split()[1:], *files)
    assert found.status == 1
    assert "agents/policies/ladders/floor.test.yaml:23:11: failed: floor:" in found.out
    assert run(*hook["entry"].split()[1:], files[1]).status == 0


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
    ids = [{"id": hook["id"]} for hook in HOOKS]
    config = {"repos": [{"repo": str(ROOT), "rev": revision, "hooks": ids}]}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git("init", "-q")
    git("add", "policies", ".pre-commit-config.yaml")
    said, output = hooks()
    assert said == dict.fromkeys(("lint", "fmt", "test"), "Passed"), output

    shutil.copytree("policies", "agents/policies")
    change_threshold("agents/policies")
    git("add", "agents")
    said, output = hooks()
    assert said == {"lint": "Passed", "fmt": "Passed", "test": "Failed"}, output
    assert "agents/policies/ladders/floor.test.yaml:23:11: failed: floor:" in output
    shutil.rmtree("agents")
    git("add", "agents")

    file = Path("policies/breaker.yaml")
    file.write_text(file.read_text().replace("kind: ", "kind:   ") + BAD_LINE)
    git("add", "policies")
    said, output = hooks()
    assert said == dict.fromkeys(("lint", "fmt", "test"), "Failed"), output
    assert "unknown key `nonsense`" in output
    assert "kind:   " not in file.read_text()  # fmt has mended the layout in place
