"""One policy: its document, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Spec, SpecError
from policyengine.rules.compile import CompiledTable, compile_table
from policyengine.rules.decision import Decision
from policyengine.rules.table import Table
from policyengine.source.document import Document
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import load_schema, validate


class Policy:
    """A document of a bundle whose kind decides something.

    It is compiled when first used. Deciding is pure and never raises: an input that does not fit the policy's input
    schema, and whatever cannot be evaluated, ends in the policy's `on_error` outcome, with what was wrong in `errors`.
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

    def outcome(self, input: Mapping[str, Any], *, check: bool = True) -> Mapping[str, Any]:
        """What is decided, and nothing else: the fast path. `check` as in `decide`."""
        compiled = self.compiled
        if check and not compiled.fits(input) and (refusal := compiled.refusal(input)) is not None:
            return refusal.outcome
        return compiled.outcome(input)

    def decide(self, input: Mapping[str, Any], trace: bool = False, *, check: bool = True) -> Decision:
        """What is decided, by which rule, with which errors, and with `trace` why.

        An input that the policy's input schema does not allow (a choice that it does not know, a number out of range,
        a missing or an unknown key) is not decided on: the outcome is `on_error`, and each error says where the input
        is wrong and what was expected. `check` False leaves this out, for an input that was checked before; the rules
        then fail only where they read what they cannot use. The check takes a microsecond or less.
        """
        compiled = self.compiled
        if check and not compiled.fits(input) and (refusal := compiled.refusal(input, trace)) is not None:
            return refusal
        return compiled.decide(input, trace=trace)

    def with_constants(self, overrides: Mapping[str, Any]) -> Policy:
        """The same policy with some constants replaced; constants that were replaced before stay so.

        Raises `InputError` for a name that is no constant of the policy, and for a value that the policy cannot be
        built with.
        """
        if not isinstance(overrides, Mapping):
            raise InputError(f"constants are given by name, {{'NAME': value}}, not as {type(overrides).__name__}")
        own = self._spec.get("constants", {})
        for name in overrides:
            if name not in own:
                hint = did_you_mean(str(name), own) or (f"it has: {', '.join(own)}" if own else "it has none")
                raise InputError(f"the policy {self.name} has no constant `{name}`; {hint}")
        document = self._spec.document
        changed = {**document.data, "spec": {**document.data["spec"], "constants": {**own, **overrides}}}
        if findings := validate(changed, load_schema(self.kind.file), document):
            raise InputError(f"the policy {self.name} does not take that: {findings[0].message}")
        policy = Policy(self.kind, replace(self._spec, overrides={**self._spec.overrides, **overrides}))
        try:
            issues = policy.compiled.issues
        except SpecError as error:
            raise InputError(f"the policy {self.name} cannot be built with that: {error}") from None
        if wrong := [issue.message for _, issue in issues if str(issue.severity) == "error"]:
            raise InputError(f"the policy {self.name} cannot be built with that: {wrong[0]}")
        return policy

    def __repr__(self) -> str:
        return f"<Policy {self.name} {self.version} ({self.kind.name})>"
