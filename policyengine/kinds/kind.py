"""What a policy kind is: a name, and the step that turns its vocabulary into a table of the core."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.kinds.spec import Spec
from policyengine.rules.table import Table
from policyengine.source.document import Document
from policyengine.source.finding import Finding, Severity
from policyengine.source.input_schema import faults
from policyengine.source.schema import CODE, load_schema, validate


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of policy document.

    `build` reads a document that its schema has accepted and returns a table; it raises `SpecError` for what a
    schema cannot say. A kind without `build` decides nothing: other documents use what it holds.
    `on_error` is the conservative outcome used where the document states none: words, never numbers or texts. A kind
    whose outcome needs those has none, and its schema asks the document for it.
    """

    name: str
    title: str
    build: Callable[[Kind, Spec], Table] | None = None
    on_error: Mapping[str, Any] | None = None
    input_key: str | None = None
    """The key of the `spec` under which a document states the schema of its own input."""
    several: bool = False
    """A bundle may hold several of them, each asked by its name; none of them serves for the kind."""

    def findings(self, data: Any, document: Document) -> list[Finding]:
        """What is wrong with a document by the schemas; `data` is its own, or that of a variant of it."""
        found = validate(data, load_schema(self.file), document)
        if found or self.input_key is None:
            return found
        at = ("spec", self.input_key)
        return [
            Finding(
                CODE,
                Severity.ERROR,
                fault.message,
                (document.key_place if fault.at_key else document.place)((*at, *fault.path)),
                fault.hint,
            )
            for fault in faults(data["spec"][self.input_key])
        ]

    @property
    def file(self) -> str:
        """Base name of its schema files: `TokenEstimate` is `token-estimate`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "-", self.name).lower()
