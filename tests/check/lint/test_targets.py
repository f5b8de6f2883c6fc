"""Which bundle a path is linted in."""

from pathlib import Path

import pytest

from policyengine.check.lint.targets import Target, targets
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder
from tests.check.lint.bundles import BREAKER, MANIFEST, WORDS


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one bundle, and a policy outside of it."""
    (tmp_path / "policies" / "more").mkdir(parents=True)
    (tmp_path / "policies" / "bundle.yaml").write_text(MANIFEST)
    (tmp_path / "policies" / "more" / "words.yaml").write_text(WORDS)
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "breaker.yaml").write_text(BREAKER)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_path_the_local_folder_and_the_built_in_bundle_by_its_name(project, monkeypatch):
    assert [str(target.root) for target in targets([])] == ["policies"]
    monkeypatch.chdir(project / "loose")
    with pytest.raises(InputError, match=r"no folder \./policies"):
        targets([])
    built_in = Target(policies_folder(), built_in=True)
    assert targets([Path("built-in")]) == [built_in]
    assert targets([Path("built-in"), project / "policies"]) == [built_in, Target(project / "policies")]
    (project / "loose" / "built-in").mkdir()
    assert targets([Path("built-in")]) == [Target(Path("built-in"))]


def test_a_file_and_a_folder_belong_to_the_bundle_around_them(project):
    policies = project / "policies"
    words = policies / "more" / "words.yaml"
    assert targets([words]) == [Target(policies, (words,))]
    assert targets([policies / "more"]) == [Target(policies, (policies / "more",))]
    assert targets([words, policies]) == [Target(policies)]


def test_outside_of_a_bundle_each_path_is_its_own(project):
    loose = project / "loose"
    assert targets([loose, loose / "breaker.yaml"]) == [
        Target(loose, ()),
        Target(loose / "breaker.yaml", ()),
    ]


def test_a_missing_path_is_refused(project):
    with pytest.raises(InputError, match="there is no such file or folder"):
        targets([project / "polices"])
