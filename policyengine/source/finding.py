"""What a check says about a file: data, so that every renderer can print it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from policyengine.source.place import Place


class Severity(StrEnum):
    """How much a finding matters. Only `error` makes a command exit with status 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file: what stands at `place`, from its start to its end, becomes `text`."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that would remove a finding. `safe` means that no decision changes by it; `title` is in words."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem at one place.

    `code` names the rule that found it (for example `schema`), `message` is one line saying what is wrong
    and what was expected, `hint` is what to do about it, `fix` is a change that does it.
    """

    code: str
    severity: Severity
    message: str
    place: Place
    hint: str | None = None
    fix: Fix | None = None

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.place}: {self.severity}[{self.code}]: {self.message}{hint}"
