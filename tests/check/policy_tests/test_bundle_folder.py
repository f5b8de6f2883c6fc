"""Which bundle tests are about, where nobody says."""

from pathlib import Path

import pytest

from policyengine.check.policy_tests.suite import bundle_folder
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


def test_without_a_folder_of_policies_it_is_the_built_in_bundle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert bundle_folder([]) == policies_folder()


def test_tests_of_two_bundles_have_to_be_told_apart(tree):
    with pytest.raises(InputError, match="--bundle"):
        bundle_folder([Path("plain"), Path("policies")])
