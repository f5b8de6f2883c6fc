"""One policy: its document, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Spec
from policyengine.rules.compile import CompiledTable, compile_table
from policyengine.rules.decision import Decision
from policyengine.rules.table import Table
from policyengine.source.document import Document
from policyengine.source.schema import load_schema


class Policy:
    """A document of a bundle whose kind decides something.

    It is compiled when first used. Deciding is pure and never raises: what cannot be evaluated ends in the
    policy's `on_error` outcome.
    """

    def __init__(self, kind: Kind, spec: Spec) -> None:
        self.kind = kind
        self._spec = spec

    @property
    def name(self) -> str:
        """`metadata.name`."""
        name: str = self._spec.metadata["name"]
        return name

    @property
    def version(self) -> str:
        """`metadata.version`."""
        version: str = self._spec.metadata["version"]
        return version

    @property
    def document(self) -> Document:
        """The document it was read from."""
        return self._spec.document

    @property
    def spec(self) -> Mapping[str, Any]:
        """The document's `spec`, as plain data."""
        spec: Mapping[str, Any] = self.document.data["spec"]
        return spec

    @property
    def constants(self) -> Mapping[str, Any]:
        """The named constants, with overrides applied."""
        return self._spec.constants()

    @cached_property
    def table(self) -> Table:
        """The policy as the core sees it. Raises `SpecError` where it cannot be built."""
        if self.kind.build is None:
            raise TypeError(f"{self.kind.name} decides nothing")
        return self.kind.build(self.kind, self._spec)

    @cached_property
    def compiled(self) -> CompiledTable:
        """The policy as Python functions."""
        return compile_table(self.table)

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """JSON Schema of its input."""
        return self.table.input_schema

    @property
    def decision_schema(self) -> Mapping[str, Any] | None:
        """JSON Schema of its outcome; None for a `Table`, which states none."""
        return None if self.kind.name == "Table" else load_schema(f"decisions/{self.kind.file}")

    def outcome(self, input: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is decided, and nothing else: the fast path."""
        return self.compiled.outcome(input)

    def decide(self, input: Mapping[str, Any], trace: bool = False) -> Decision:
        """What is decided, by which rule, with which errors, and with `trace` why."""
        return self.compiled.decide(input, trace=trace)

    def with_constants(self, overrides: Mapping[str, Any]) -> Policy:
        """The same policy with some constants replaced. An unknown name is a `SpecError` when it is built."""
        return Policy(self.kind, Spec(self._spec.document, self._spec.words, dict(overrides)))
