"""What lint rules look at: the documents of a bundle, and the policies that could be built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from policyengine.check.lint.conditions import Formulas
from policyengine.check.lint.ladders import Curve
from policyengine.kinds.bundle import TESTS, Bundle, check, files, unread
from policyengine.kinds.policy import Policy
from policyengine.kinds.registry import KINDS
from policyengine.source.document import Document
from policyengine.source.finding import Finding, Severity
from policyengine.source.schema import load_schema, validate
from policyengine.source.text import UnreadableError, read_text, shown_path
from policyengine.source.yaml import CODE as YAML
from policyengine.source.yaml import read_documents


class Context:
    """One bundle, read once, with what the layers below found wrong with it.

    `documents` are those that fit their schema, tests left out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._formulas: dict[str, Formulas] = {}
        self._curves: dict[str, Curve] = {}
        self.findings: list[Finding]
        self.bundle: Bundle | None
        self.bundle, self.findings = check(path)
        if self.bundle is not None:
            self.documents = tuple(d for d in self.bundle.documents if d.data["kind"] != TESTS)
            self.tests = self.bundle.tests
        else:
            broken = {finding.place.file for finding in self.findings if finding.code == YAML}
            self.documents, self.tests = _without_policies(path, broken)
        self.unread = unread(self.findings)
        """Whether some file could not be read, so that nobody knows what it holds."""
        for test in self.tests:
            self.findings += validate(test.data, load_schema("tests"), test)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of every file of the bundle that can be read, by its shown name."""
        texts = {document.file: document.text for document in self.documents + self.tests}
        for file in files(self.path):
            name = shown_path(file)
            if name not in texts:
                try:
                    texts[name] = read_text(file)
                except UnreadableError:  # a finding of the reader already
                    continue
        return texts

    @property
    def policies(self) -> Mapping[str, Policy]:
        """The policies that can decide, by name."""
        return self.bundle.policies if self.bundle is not None else {}

    def of_kind(self, *kinds: str) -> Iterator[Document]:
        """The documents of some kinds."""
        return (document for document in self.documents if document.data["kind"] in kinds)

    def policies_of(self, *kinds: str) -> Iterator[Policy]:
        """The policies of some kinds that can decide."""
        return (policy for policy in self.policies.values() if policy.kind.name in kinds)

    def serving(self, kind: str) -> Policy | None:
        """The policy that serves for a kind, None where there is none."""
        found = self.bundle.of_kind(kind) if self.bundle is not None else []
        if self.bundle is None or not found:
            return None
        name = self.bundle.use.get(kind)
        return next((policy for policy in found if policy.name == name), None) if name else found[0]

    def formulas(self, policy: Policy) -> Formulas:
        """The conditions of a policy as formulas."""
        if policy.name not in self._formulas:
            self._formulas[policy.name] = Formulas(policy.table, policy.compiled.programs)
        return self._formulas[policy.name]

    def curve(self, policy: Policy) -> Curve:
        """A ladder over its windows."""
        if policy.name not in self._curves:
            self._curves[policy.name] = Curve(policy, policy.compiled.programs)
        return self._curves[policy.name]

    @cached_property
    def searched_words(self) -> frozenset[str]:
        """The word lists that some expression of the bundle looks for in a text."""
        return frozenset().union(*(policy.compiled.programs.word_lists() for policy in self.policies.values()))

    @cached_property
    def tools(self) -> Tools | None:
        """The tool catalogue, None where the bundle has none."""
        found = self._catalogue("ToolCatalogue")
        return Tools(found) if found is not None else None

    @cached_property
    def models(self) -> Models | None:
        """The model catalogue, None where the bundle has none."""
        found = self._catalogue("ModelCatalogue")
        return Models(found) if found is not None else None

    def _catalogue(self, kind: str) -> Mapping[str, Any] | None:
        """What is in a catalogue: its own, also where it cannot be used, else the inherited one."""
        document = next(self.of_kind(kind), None)
        if document is not None:
            spec: Mapping[str, Any] = document.data["spec"]
            return spec
        serving = self.serving(kind)
        return serving.document.data["spec"] if serving is not None else None


class Tools:
    """The names in a tool catalogue."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        rows = [*spec["tools"], *spec.get("commands", ())]
        self.ids = {row["tool"] for row in rows}
        self.kinds = {row["kind"] for row in rows}
        self.of_name = {name: row["tool"] for row in spec["tools"] for name in row["names"]}
        self.mcp_prefix: str | None = spec.get("mcp_prefix")


class Models:
    """The models of a catalogue, by every name."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.rows: list[Mapping[str, Any]] = list(spec["models"])
        self.of_name = {name: row for row in self.rows for name in (row["id"], *row.get("aliases", ()))}


def _without_policies(path: Path, broken: set[str]) -> tuple[tuple[Document, ...], tuple[Document, ...]]:
    """The documents of a folder in which no policy can be used: word lists alone, say. `broken` files are left out."""
    accepted: list[Document] = []
    tests: list[Document] = []
    for file in files(path):
        for document in read_documents(file)[0] if shown_path(file) not in broken else ():
            data = document.data
            if not document.sound or not isinstance(data, dict):
                continue
            if data.get("kind") == TESTS:
                tests.append(document)
            elif (kind := KINDS.get(str(data.get("kind")))) and not kind.findings(data, document):
                accepted.append(document)
    return tuple(accepted), tuple(tests)


def walk(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value in plain data that is no collection, with its path."""
    stack: list[tuple[tuple[str | int, ...], Any]] = [(path, value)]
    while stack:
        at, current = stack.pop()
        if isinstance(current, dict):
            stack.extend(((*at, key), item) for key, item in reversed(current.items()))
        elif isinstance(current, list):
            stack.extend(((*at, index), item) for index, item in reversed(list(enumerate(current))))
        else:
            yield at, current


def worst(findings: list[Finding]) -> bool:
    """Whether any finding is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
