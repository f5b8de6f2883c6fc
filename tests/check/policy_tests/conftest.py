"""A small bundle of two policies, copied for each test, and a way to write test documents beside them."""

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
HEAD = "apiVersion: policyengine/v1\nkind: Tests\nmetadata: {name: some-tests, version: 1.0.0}\nspec:\n"


@pytest.fixture
def light(tmp_path):
    """The folder of a bundle with the policies `light` and `meter`, without tests."""
    folder = tmp_path / "light"
    shutil.copytree(DATA / "light", folder)
    return folder


@pytest.fixture
def write(light):
    """Write a test document whose `spec` is the given text."""

    def call(spec, name="some.test.yaml"):
        file = light / name
        indented = "".join(f"  {line}\n" if line else "\n" for line in spec.splitlines())
        file.write_text(HEAD + indented, encoding="utf-8")
        return file

    return call


@pytest.fixture
def good(light):
    """The bundle with tests that pass and cover it."""
    shutil.copy(DATA / "good.yaml", light / "good.test.yaml")
    return light
