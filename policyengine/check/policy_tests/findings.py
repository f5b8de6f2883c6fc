"""What is wrong with a test document, as findings that are collected while it is read."""

from __future__ import annotations

from collections.abc import Iterable

from policyengine.check.policy_tests.model import Path
from policyengine.source.document import Document
from policyengine.source.finding import Finding, Severity

CODE = "test"


class Findings:
    """Collects what is wrong in one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.found: list[Finding] = []

    def at(self, path: Path, message: str, hint: str | None = None) -> None:
        """Something is wrong with the value at `path`."""
        self.add(Finding(CODE, Severity.ERROR, message, self.document.place(path), hint))

    def at_key(self, path: Path, message: str, hint: str | None = None) -> None:
        """Something is wrong with the key that `path` ends in."""
        self.add(Finding(CODE, Severity.ERROR, message, self.document.key_place(path), hint))

    def add(self, finding: Finding) -> None:
        """A finding; one that is there already is said once."""
        if finding not in self.found:
            self.found.append(finding)

    def add_all(self, findings: Iterable[Finding]) -> None:
        """Several findings, each said once."""
        for finding in findings:
            self.add(finding)
