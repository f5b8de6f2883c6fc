"""The policies under test: by name, with the constants and spec values that a case replaces."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policyengine.check.policy_tests import word_lists
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.kind import Kind
from policyengine.kinds.paths import set_path
from policyengine.kinds.policy import Policy
from policyengine.kinds.registry import KINDS
from policyengine.kinds.spec import Spec, SpecError
from policyengine.kinds.word_lists import entries
from policyengine.rules.table import HitPolicy
from policyengine.source.document import Document
from policyengine.source.errors import InputError

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A document that can be tested, and its kind."""

    kind: Kind
    document: Document

    @property
    def name(self) -> str:
        """`metadata.name`."""
        name: str = self.document.data["metadata"]["name"]
        return name


_NO_WORDS: Words = {}


class Subjects:
    """Everything in a bundle that can be tested. Policies are compiled when first asked for, and kept."""

    def __init__(self, subjects: Iterable[Subject], inherited: Words = _NO_WORDS) -> None:
        self._subjects = {subject.name: subject for subject in subjects}
        self._inherited = inherited
        self._words = {**inherited, **_words(self._subjects.values())}
        self._policies: dict[str, Policy] = {}
        self._touched: dict[str, frozenset[str]] = {}

    @classmethod
    def of(cls, bundle: Bundle) -> Subjects:
        """The policies of a bundle that decide, and its word lists."""
        lists = (d for d in bundle.documents if d.data["kind"] == word_lists.NAME)
        return cls(
            [
                *(Subject(word_lists.KIND, document) for document in lists),
                *(Subject(policy.kind, policy.document) for policy in bundle.policies.values()),
            ],
            bundle.base.words if bundle.base is not None else _NO_WORDS,
        )

    def __contains__(self, name: str) -> bool:
        return name in self._subjects

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(self._subjects)

    def subject(self, name: str) -> Subject:
        """The document called `name`."""
        return self._subjects[name]

    def with_document(self, document: Document) -> Subjects:
        """The same with one document in place of the one of its name. What it does not touch stays compiled."""
        name = document.data["metadata"]["name"]
        changed = Subjects(
            (replace(one, document=document) if one.name == name else one for one in self._subjects.values()),
            self._inherited,
        )
        touched = self.touched_by(name)
        changed._policies = {k: p for k, p in self._policies.items() if p.name not in touched}
        return changed

    def touched_by(self, name: str) -> frozenset[str]:
        """The names of what decides otherwise when the document `name` changes: a word list's readers too."""
        if name not in self._touched:
            self._touched[name] = self._touched_by(name)
        return self._touched[name]

    def _touched_by(self, name: str) -> frozenset[str]:
        if self._subjects[name].kind.name != word_lists.NAME:
            return frozenset({name})
        lists = entries(self._subjects[name].document.data["spec"])
        readers = (
            other for other in self._subjects if self.policy(other).compiled.programs.word_lists() & lists.keys()
        )
        return frozenset({name, *readers})

    def policy(
        self, name: str, constants: Mapping[str, Any] | None = None, variant: Mapping[str, Any] | None = None
    ) -> Policy:
        """A policy, with some constants and other values of its `spec` replaced.

        Raises `SpecError` where that cannot be built or compiled.
        """
        key = json.dumps([name, constants or {}, variant or {}], sort_keys=True, ensure_ascii=False)
        found = self._policies.get(key)
        if found is None:
            subject = self._subjects[name]
            document = varied(subject.document, variant) if variant else subject.document
            found = Policy(subject.kind, Spec(document, self._words, dict(constants or {})))
            check_expressions(found)
            self._policies[key] = found
        return found


def varied(document: Document, variant: Mapping[str, Any]) -> Document:
    """The document with other values below its `spec`. Raises `SpecError` where it no longer fits its schema."""
    spec = document.data["spec"]
    for path, value in variant.items():
        try:
            spec = set_path(spec, path, value)
        except InputError as error:
            raise SpecError(str(error), ("spec",)) from None
    return changed_to(document, {**document.data, "spec": spec})


def changed_to(document: Document, data: Mapping[str, Any]) -> Document:
    """The document with other data; its places stay those of the original. Raises `SpecError` for bad data."""
    kind = data["kind"]
    if found := (KINDS.get(kind) or Kind(kind, "")).findings(data, document):
        raise SpecError(found[0].message, ("spec",), found[0].hint)
    changed = copy.copy(document)
    changed.data = data
    return changed


def check_expressions(policy: Policy) -> None:
    """Raise `SpecError` where an expression of the policy cannot be compiled."""
    for expression, issue in policy.compiled.issues:
        if str(issue.severity) == "error":
            raise SpecError(issue.message, expression.path, issue.hint)


def rule_ids(policy: Policy) -> tuple[str, ...]:
    """The ids of a policy's rules, in order."""
    return tuple(rule.id for rule in policy.table.rules)


def default_can_decide(policy: Policy) -> bool:
    """Whether the default can decide: not after a rule that always matches, and not where all are collected."""
    table = policy.table
    return table.hit is not HitPolicy.COLLECT and all(rule.when is not None for rule in table.rules)


def expectation_schema(policy: Policy) -> Mapping[str, Any]:
    """JSON Schema of what a test may expect of this policy's decisions."""
    table = policy.table
    if policy.kind.name in ("Table", word_lists.NAME):
        outcomes = [*(rule.outcome for rule in table.rules), table.default]
        names = {name for outcome in outcomes for name in (*outcome.literals, *outcome.computed)}
        fields: dict[str, Any] = _object({name: {} for name in sorted({*names, *table.on_error, *table.outputs})})
    else:
        fields = {"$ref": f"decisions/{policy.kind.file}.schema.json#/$defs/fields"}
    if policy.kind.name == word_lists.NAME:
        return _object({name: {"type": "boolean"} for name in table.outputs})
    if table.hit is HitPolicy.COLLECT:
        return _object({"matches": {"type": "array", "items": fields}})
    return fields


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _words(subjects: Iterable[Subject]) -> Words:
    lists: dict[str, tuple[str, ...]] = {}
    for subject in subjects:
        if subject.kind.name == word_lists.NAME:
            lists.update(entries(subject.document.data["spec"]))
    return lists
