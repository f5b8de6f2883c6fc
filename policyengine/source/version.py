"""The version of the installed package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _version() -> str:
    try:
        return version("policyengine")
    except PackageNotFoundError:
        return "0"


__version__ = _version()
