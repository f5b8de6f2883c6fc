"""Where the files that ship with the package are: the JSON Schemas, the default bundle, a table as example."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from policyengine.source.errors import InputError


@cache
def resource_folder(name: str) -> Path:
    """The folder `schemas`, `policies` or `examples`: the wheel's own copy, else the one in the checkout.

    Raises InputError where neither is there, which means a broken installation.
    """
    # Not importlib.resources, which takes 7 ms to import and cannot name a folder inside an archive either.
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_bundled" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise InputError(f"the folder {name} is missing from the installation; install policyengine again")


def schemas_folder() -> Path:
    """The folder of the JSON Schemas."""
    return resource_folder("schemas")


def policies_folder() -> Path:
    """The folder of the default bundle."""
    return resource_folder("policies")


def example_folder() -> Path:
    """The folder of the example bundle: a table of nobody's agent, its word list and its tests."""
    return resource_folder("examples") / "policies"
