"""Which bundle a command decides by, and that it says so where nobody named one."""

import shutil

import pytest

from policyengine.kinds.bundle import load
from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"
MANIFEST = """\
apiVersion: policyengine/v1
kind: Bundle
metadata: {name: ours, version: 7.0.0}
spec: {extends: built-in}
"""
FLOOR = (ROOT / "policies" / "ladders" / "floor.yaml").read_text()

DECIDE = [
    ("context", "--window", "200000"),
    ("eval", "floor", "--set", "window=200000", "--set", "tokens=5"),
    ("replay", SAMPLE),
    ("replay", "log.jsonl"),
    ("compress", SAMPLE),
    ("probe", SAMPLE),
    ("gate", "quality", "--log", "log.jsonl"),
    ("baseline", "--log", "log.jsonl"),
    ("log", "unused", "log.jsonl"),
    ("verify", "--policy", "floor"),
]
LOOK = [("lint",), ("test",), ("fmt", "--check")]


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    run("replay", SAMPLE, "--log", "log.jsonl")
    return tmp_path


@pytest.fixture
def ours(folder):
    policies = folder / "policies"
    policies.mkdir()
    (policies / "bundle.yaml").write_text(MANIFEST)
    (policies / "floor.yaml").write_text(FLOOR)
    return policies


def said(found):
    return [line for line in found.err.splitlines() if " decided (" in line]


@pytest.mark.parametrize("args", DECIDE, ids=lambda args: " ".join(map(str, args[:2])))
class TestWhatDecides:
    def test_without_a_folder_of_policies_the_built_in_bundle_and_says_so(self, run, folder, args):
        found = run(*args)
        digest = load().digest[:12]
        assert found.status != 2, found.err
        assert said(found) == [f"policyengine: the built-in bundle decided (default 1.0.0, digest {digest})"]

    def test_a_projects_own_bundle_comes_first(self, run, ours, args):
        found = run(*args)
        assert said(found) == [
            f"policyengine: the bundle policies decided (ours 7.0.0, digest {load(ours).digest[:12]})"
        ]

    @pytest.mark.parametrize("name", ["policies", "built-in"])
    def test_what_was_named_is_not_said_again(self, run, ours, args, name):
        found = run(*args, "--bundle", name)
        assert found.status != 2, found.err
        assert said(found) == []


@pytest.mark.parametrize("args", LOOK, ids=lambda args: args[0])
class TestWhatLooks:
    def test_outside_of_a_project_it_could_not_run(self, run, folder, args):
        """A job that runs in the wrong folder does not pass."""
        found = run(*args)
        assert (found.status, found.out) == (2, "")
        assert found.err.startswith("policyengine: there is no folder ./policies here; say what to ")

    def test_a_projects_own_bundle(self, run, ours, args):
        (ours / "floor.yaml").write_text(FLOOR.replace("kind: Ladder", "kind:   Lader"))
        found = run(*args)
        assert found.status > 0
        assert "policies/floor.yaml" in found.out + found.err


def test_the_built_in_bundle_is_linted_and_tested_by_its_name(run, folder):
    assert run("lint", "built-in").out == "No findings.\n"
    found = run("test", "--bundle", "built-in")
    assert found.status == 0, found.out[-500:]
    assert "passed; rules covered" in found.out


def test_a_folder_called_built_in_comes_first(run, ours):
    shutil.copytree(ours, ours.parent / "built-in")
    (ours.parent / "built-in" / "floor.yaml").write_text(FLOOR.replace("name: floor", "name: another"))
    assert "another" in run("context", "--window", "200000", "--bundle", "built-in").out


def test_a_folder_of_something_else_says_how_to_go_on(run, folder):
    (folder / "policies").mkdir()
    (folder / "policies" / "iam.json").write_text("{}")
    found = run("context", "--window", "200000")
    assert (found.status, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    assert "--bundle built-in" in found.err


def test_an_error_stays_one_line(run, folder):
    found = run("context", "--window", "200000", "--ladder", "flor")
    assert found.status == 2
    assert len(found.err.splitlines()) == 1
