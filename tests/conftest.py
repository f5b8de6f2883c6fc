"""What every test may use: the command line in this process, real recordings where they are, a clean environment."""

import io
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"


def examples(quick):
    """On how many examples a property is tried: `make soak` sets EXAMPLES_TIMES, for so many times as many."""
    return quick * int(os.environ.get("EXAMPLES_TIMES", "1"))


# How long an example takes says something about the machine, not about the code.
settings.register_profile("house", deadline=None, max_examples=examples(100))
settings.load_profile("house")

_SETTINGS = ("CI", "NO_COLOR", "FORCE_COLOR")


@dataclass
class Run:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    """No key, colour setting or CI variable of this machine reaches a test."""
    for name in list(os.environ):
        if (
            name.endswith("_API_KEY")
            or name.startswith(("GITHUB_", "OTEL_"))
            or name in ("CI", "NO_COLOR", "FORCE_COLOR")
        ):
            monkeypatch.delenv(name)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run `policyengine ARGS...` in this process: exit status, stdout and stderr."""
    from policyengine.commands import main

    def call(*args, input=None):
        monkeypatch.setattr(sys, "argv", ["policyengine", *map(str, args)])
        if input is not None:
            data = input if isinstance(input, bytes) else input.encode()
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = stop.code or 0
        captured = capsys.readouterr()
        return Run(status, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def shared():
    """A file of the recordings and cases that lie beside the checkout; the test is skipped where it is missing."""

    def find(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"../shared/{name} is not on this machine")
        return path

    return find
