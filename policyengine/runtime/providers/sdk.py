"""Importing an SDK when it is first used; each costs half a second or more."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from policyengine.source.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Sdk:
    """An official SDK: its module, the package that holds it, and the extra that installs it."""

    module: str
    package: str
    extra: str

    def check(self) -> None:
        """Raise `MissingExtraError` where it is not installed; nothing is imported."""
        try:
            found = find_spec(self.module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise self._missing()

    def load(self) -> Any:
        """Its module. Raises `MissingExtraError` where it is not installed."""
        try:
            return import_module(self.module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{self.module}.".startswith(f"{error.name}."):
                raise
            raise self._missing() from None

    def _missing(self) -> MissingExtraError:
        return MissingExtraError(self.package, self.extra, f"the provider {self.extra}")
