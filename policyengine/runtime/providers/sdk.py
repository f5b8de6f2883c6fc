"""Importing an SDK when it is first used; each costs half a second or more."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from policyengine.source.errors import MissingExtraError


def load_sdk(module: str, package: str, extra: str) -> Any:
    """The SDK's module. Raises MissingExtraError where its package is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(package, extra, f"the provider {extra}") from None
