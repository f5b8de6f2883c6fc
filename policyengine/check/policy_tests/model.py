"""Policy tests as data: what a test document says once tables are unrolled and names are resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policyengine.source.document import Document
from policyengine.source.place import Place

Path = tuple[str | int, ...]

DEFAULT = "default"
"""Stands for a rule where no rule matched."""
ON_ERROR = "on_error"
"""Stands for a rule where an evaluation error decided."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of an input that a case sets; `at` is where its value stands in the document."""

    field: str
    value: Any
    at: Path


@dataclass(frozen=True, slots=True)
class Recorded:
    """The input that a policy got in one round of a recorded session."""

    file: str
    round: int
    options: Mapping[str, Any]
    at: Path


@dataclass(frozen=True, slots=True)
class Start:
    """What an input starts from: a value of the document (at `at`), a recorded round, or nothing."""

    value: Mapping[str, Any] = field(default_factory=dict)
    at: Path = ()
    recorded: Recorded | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a decision has to be. None stands for "does not matter", except for `errors`: none may happen."""

    fields: Mapping[str, Any] | None = None
    rules: tuple[str, ...] | None = None
    errors: tuple[str, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether any decision would do."""
        return not self.fields and self.rules is None and not self.errors


@dataclass(frozen=True, slots=True)
class TestStep:
    """One decision: by which policy, on which input, and what it has to be."""

    __test__ = False

    policy: str
    start: Start
    settings: tuple[Setting, ...]
    own: frozenset[str]
    """Input fields that this step sets itself, so that nothing carried replaces them."""
    unset: tuple[Setting, ...]
    expected: Expected
    at: Path
    expected_at: Mapping[str, Path] = field(default_factory=dict)
    """Where each expected field, `rule` and `errors` stand."""
    after_ms: int = 0


@dataclass(frozen=True, slots=True)
class TestCase:
    """One case: a single decision, or several that carry their state."""

    __test__ = False

    name: str
    document: Document
    at: Path
    steps: tuple[TestStep, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)
    variant: Mapping[str, Any] = field(default_factory=dict)
    carry: Mapping[str, str] = field(default_factory=dict)
    policy: str = ""
    """The policy whose constants and spec are replaced by `constants` and `variant`."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.document.place(self.at)

    @property
    def policies(self) -> frozenset[str]:
        """The names of the policies that decide in it."""
        return frozenset(step.policy for step in self.steps)


@dataclass(frozen=True, slots=True)
class Explained:
    """A mutant that the document says no test can notice."""

    mutant: str
    policy: str
    reason: str
    at: Path
    document: Document

    @property
    def place(self) -> Place:
        """Where it is explained."""
        return self.document.place((*self.at, "mutant"))


@dataclass(frozen=True, slots=True)
class TestDocument:
    """A document of kind Tests."""

    __test__ = False

    document: Document
    name: str
    cases: tuple[TestCase, ...]
    explained: tuple[Explained, ...] = ()

    @property
    def file(self) -> str:
        """The file it was read from."""
        return self.document.file

    @property
    def policies(self) -> frozenset[str]:
        """The names of the policies that it tests."""
        return frozenset().union(*(case.policies for case in self.cases))
