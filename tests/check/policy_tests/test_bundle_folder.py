"""Which bundle tests are about, where nobody says."""

from pathlib import Path

import pytest

from policyengine.check.policy_tests.request import Request, bundle_folder, by_bundle
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder

MANIFEST = "apiVersion: policyengine/v1\nkind: Bundle\n"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "policies/bundle.yaml": MANIFEST,
        "policies/ladders/floor.yaml": "kind: Ladder\n",
        "policies/ladders/floor.test.yaml": "kind: Tests\n",
        "plain/gate.yaml": "kind: CompactionGate\n",
        "plain/gate.test.yaml": "kind: Tests\n",
        "apart/gate.test.yaml": "kind: Tests\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], "policies"),
        (["policies"], "policies"),
        (["policies/ladders"], "policies"),
        (["policies/ladders/floor.test.yaml"], "policies"),
        (["plain"], "plain"),
        (["plain/gate.test.yaml"], "plain"),
        (["apart/gate.test.yaml"], "policies"),
        (["apart", "plain"], "plain"),
    ],
)
def test_the_nearest_bundle_around_the_tests(paths, expected, tree):
    assert bundle_folder([Path(path) for path in paths]) == Path(expected)


def test_without_a_folder_of_policies_a_person_has_to_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no folder \./policies"):
        bundle_folder([])
    assert Request(bundle=Path("built-in")).folder == policies_folder()


def test_tests_of_two_bundles_have_to_be_told_apart(tree):
    with pytest.raises(InputError, match="--bundle"):
        bundle_folder([Path("plain"), Path("policies")])


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["plain", "policies/ladders"], [("plain", ["plain"]), ("policies", ["policies/ladders"])]),
        (["policies/ladders/floor.yaml", "policies"], [("policies", ["policies/ladders/floor.yaml", "policies"])]),
        (["plain", "apart"], [("plain", ["plain", "apart"])]),
        (["apart"], [("policies", ["apart"])]),
        ([], [("policies", [])]),
    ],
)
def test_each_bundle_is_tested_with_its_own_paths(paths, expected, tree):
    found = by_bundle(Request(tuple(map(Path, paths))))
    assert [(str(one.folder), list(map(str, one.paths))) for one in found] == expected


def test_the_whole_bundle_around_each_path(tree):
    paths = tuple(map(Path, ["plain/gate.yaml", "policies/ladders/floor.yaml", "policies/bundle.yaml"]))
    assert [one.paths for one in by_bundle(Request(paths), whole=True)] == [(Path("plain"),), (Path("policies"),)]


def test_a_path_in_no_bundle_has_none_around_it(tree):
    with pytest.raises(InputError, match="apart lies in no bundle; say with --bundle"):
        by_bundle(Request((Path("apart"),)), whole=True)


def test_a_path_that_may_belong_to_several_bundles_is_refused(tree):
    with pytest.raises(InputError, match="apart may belong to several bundles"):
        by_bundle(Request((Path("apart"), Path("plain"), Path("policies"))))


def test_a_bundle_is_not_looked_for_beyond_the_project(tree):
    inner = tree / "policies" / "vendor"
    inner.mkdir()
    (inner / "pyproject.toml").touch()
    (inner / "gate.yaml").write_text("kind: CompactionGate\n")
    assert bundle_folder([Path("policies/vendor/gate.yaml")]) == Path("policies/vendor")
