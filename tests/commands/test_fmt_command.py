"""`policyengine fmt` as a person and as CI see it."""

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "a.yaml").write_text("a:   1  # why\nb:\n- x\n")
    (tmp_path / "policies" / "b.yaml").write_text("a: 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "policies"


def test_check_changes_nothing_and_fails(run, folder):
    before = (folder / "a.yaml").read_text()
    found = run("fmt", "--check")
    assert found.status == 1
    assert found.out == "would change policies/a.yaml\nwould change 1 of 2 files\n"
    assert (folder / "a.yaml").read_text() == before


def test_it_writes_and_is_then_content(run, folder):
    found = run("fmt", "policies")
    assert (found.status, found.out) == (0, "changed policies/a.yaml\nchanged 1 of 2 files\n")
    assert (folder / "a.yaml").read_text() == "a: 1  # why\nb:\n  - x\n"
    assert run("fmt", "--check").status == 0


def test_diff(run, folder):
    found = run("fmt", "--diff", "policies/a.yaml")
    assert found.status == 0
    assert "-a:   1  # why\n+a: 1  # why\n" in found.out
    assert (folder / "a.yaml").read_text().startswith("a:   1")


def test_a_broken_file_is_a_finding_and_the_others_are_laid_out(run, folder):
    (folder / "c.yaml").write_text("a:\n\t- b\n")
    (folder / "d.yaml").write_bytes(b"\xff\xfe")
    found = run("fmt", "policies")
    assert found.status == 1
    assert "policies/c.yaml:2:1: error[yaml]" in found.out
    assert "policies/d.yaml:1:1: error[yaml]" in found.out
    assert (folder / "a.yaml").read_text().startswith("a: 1")


def test_nowhere_to_go(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no folder ./policies" in run("fmt").err
    assert run("fmt").status == run("fmt", "none").status == 2
