"""The exception tree.

PolicyEngineError            one clear line; the command line prints it and exits with status 2
├── InputError               something the person gave cannot be used (a file, an option, an input)
├── BundleError              a bundle has findings of severity error; carries them
└── MissingExtraError        an optional dependency is not installed; says which extra to install
"""

from __future__ import annotations

from collections.abc import Sequence

from policyengine.source.finding import Finding
from policyengine.source.place import Place


class PolicyEngineError(Exception):
    """Base of every error that this package raises on purpose. `str()` is one line for a person."""


class InputError(PolicyEngineError):
    """What the person gave cannot be used. `place` says where, when it is a place in a file."""

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)


class BundleError(PolicyEngineError):
    """A bundle cannot be used. `findings` holds every problem that was found, errors first."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        self.findings = tuple(findings)
        super().__init__(message)


class MissingExtraError(PolicyEngineError):
    """An optional dependency is missing."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}; install it with: pip install 'policyengine[{extra}]'")
