"""What a lint rule is: texts that explain it, and a check that yields hits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policyengine.source.finding import Finding, Fix, Severity
from policyengine.source.place import Place

if TYPE_CHECKING:
    from policyengine.check.lint.context import Context


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule applies; with the rule's code and severity it becomes a finding."""

    place: Place
    message: str
    hint: str | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One lint rule.

    `bad` and `good` are YAML excerpts. A rule without `check` is found by the layers below (YAML reader, schemas,
    kinds, expression checker) or by the engine itself. `fixed` rules say that a bundle cannot be loaded, or that
    lint itself was told something wrong: they can be neither ignored nor given another severity.
    """

    code: str
    title: str
    why: str
    bad: str
    good: str
    severity: Severity = Severity.ERROR
    check: Callable[[Context], Iterable[Hit]] | None = None
    fixable: bool = False
    fixed: bool = False

    def finding(self, hit: Hit, severity: Severity) -> Finding:
        """The finding that a hit is."""
        return Finding(self.code, severity, hit.message, hit.place, hit.hint, hit.fix)
