"""Mutants of a policy document: one small change each, that a good test notices.

Expressions change by a token; numbers become one more, one less, twice and nothing; switches flip; decided values
become other ones that the kind allows; rows, words and optional parts are dropped. A change that leaves the table
of the core as it was (a description, an owner) is no mutant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.check.policy_tests.expression_mutants import changes
from policyengine.check.policy_tests.model import Path
from policyengine.check.policy_tests.numbers import variants
from policyengine.kinds.policy import Policy
from policyengine.rules.table import Expression, Outcome, Table
from policyengine.source.document import Document
from policyengine.source.place import Place

_NOT_DECIDING = ("properties", "windows", "input", "description", "name", "version", "owner")
_RENAMED = {"greatest": "least", "least": "greatest", "at_most": "at_least", "at_least": "at_most"}
_TUNED = ("constants", "thresholds", "fallback", "hysteresis_tokens")
"""Parts whose numbers are bounds: they get every variant of a number, plain data only one."""
_DROPPED = ("when", "compute", "greatest", "least", "at_most", "at_least", "footer", "mcp_prefix", "compound")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GONE = object()


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed policy. `id` names the change in a way that survives edits elsewhere in the file."""

    policy: str
    id: str
    place: Place
    data: Mapping[str, Any]
    hints: tuple[str, ...]
    """Texts that cases have to do with which may notice it."""


def mutants(document: Document, policy: Policy) -> Iterator[Mutant]:
    """Every mutant of a document, in the order of its text."""
    yield from _Maker(document, policy).make()


class _Maker:
    def __init__(self, document: Document, policy: Policy) -> None:
        self.document = document
        self.policy = policy
        self.expressions = {e.path for e in _expressions(policy.table) if not e.generated}
        self.enums = _enums(policy)
        self.taken: dict[str, int] = {}

    def make(self) -> Iterator[Mutant]:
        yield from self._value(("spec",), self.document.data["spec"])

    def _value(self, at: Path, value: Any) -> Iterator[Mutant]:
        if at in self.expressions:
            yield from self._expression(at, value)
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key in _NOT_DECIDING and not (len(at) > 1 and at[-1] in ("outcome", "constants", "words")):
                    continue
                yield from self._key(at, key, value)
                yield from self._value((*at, key), inner)
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield self._mutant((*at, index), _GONE, "dropped")
                if not isinstance(inner, str | int | float):
                    yield from self._value((*at, index), inner)
        else:
            yield from self._scalar(at, value)

    def _key(self, at: Path, key: str, parent: Mapping[str, Any]) -> Iterator[Mutant]:
        path = (*at, key)
        place = self.document.key_place(path)
        if self._renames(at, key, parent):
            renamed = {_RENAMED[k] if k == key else k: v for k, v in parent.items()}
            yield self._mutant(path, renamed, f"becomes {_RENAMED[key]}", place, replaced=at)
        if key in _DROPPED or at[-1] in _DROPPED or (parent[key] is None and at[-1] == "outcome"):
            yield self._mutant(path, _GONE, "dropped", place)

    def _renames(self, at: Path, key: str, parent: Mapping[str, Any]) -> bool:
        """Whether a threshold's candidates can be joined the other way round; a single one is its own extreme."""
        if at[1:2] != ("thresholds",) or key not in _RENAMED or _RENAMED[key] in parent:
            return False
        return key.startswith("at_") or len(parent[key]) > 1

    def _expression(self, at: Path, value: Any) -> Iterator[Mutant]:
        text = value if isinstance(value, str) else str(value).lower()
        for change in changes(text):
            place = self.document.place_in(at, change.start, max(1, change.end - change.start))
            what = f"{_short(change.old)} becomes {_short(change.text) or 'nothing'}"
            yield self._mutant(at, change.applied(text), what, place)

    def _scalar(self, at: Path, value: Any) -> Iterator[Mutant]:
        if isinstance(value, bool):
            yield self._mutant(at, not value, f"{_json(value)} becomes {_json(not value)}")
        elif isinstance(value, int | float):
            tuned = len(at) > 1 and at[1] in _TUNED
            near = variants(value)
            for number in near if tuned else near[:1]:
                yield self._mutant(at, number, f"{value} becomes {number}")
        elif isinstance(value, str):
            for other in self._other_texts(at, value):
                yield self._mutant(at, other, f"{_short(value)} becomes {_short(other)}")

    def _other_texts(self, at: Path, value: str) -> list[str]:
        """Another value where the field takes only some; a changed text elsewhere."""
        allowed = self.enums.get(str(at[-1]), ())
        if value in allowed:
            return [next(other for other in allowed if other != value)] if len(allowed) > 1 else []
        return [value + "-mutant"]

    def _mutant(
        self, at: Path, value: Any, what: str, place: Place | None = None, replaced: Path | None = None
    ) -> Mutant:
        data = _changed(self.document.data, replaced or at, value)
        name = f"{self._name(at)}: {what}"
        self.taken[name] = self.taken.get(name, 0) + 1
        if self.taken[name] > 1:
            name = f"{name} #{self.taken[name]}"
        here = self.document.value(at)
        hints = [part for part in self._names(at) if part not in ("rules", "spec")]
        hints += [here] if isinstance(here, str) else []
        return Mutant(self.policy.name, name, place or self.document.place(at), data, tuple(hints))

    def _name(self, at: Path) -> str:
        return ".".join(self._names(at)).replace(".[", "[")

    def _names(self, at: Path) -> list[str]:
        """The path with rows by their id, and plain list items by their value."""
        names: list[str] = []
        for length in range(2, len(at) + 1):
            step = at[length - 1]
            if isinstance(step, str):
                names.append(step)
                continue
            here = self.document.value(at[:length])
            if isinstance(here, dict):
                key = next((here[k] for k in ("id", "setting", "tool") if isinstance(here.get(k), str)), None)
                names.append(key or f"[{step}]")
            elif isinstance(here, str | int | float):
                names.append(str(here))
            else:
                names.append(f"[{step}]")
        return names


def _changed(data: Any, at: Path, value: Any) -> Any:
    if not at:
        return value
    step, rest = at[0], at[1:]
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    if value is _GONE and not rest:
        del copy[step]
    else:
        copy[step] = _changed(data[step], rest, value)
    return copy


def _enums(policy: Policy) -> dict[str, tuple[str, ...]]:
    """The texts that each decided field may be, and the thresholds that a tip may name."""
    found: dict[str, tuple[str, ...]] = {}
    if policy.kind.name == "Tips":
        found = dict.fromkeys(("from", "below"), ("warn", "auto", "hard"))
    schema = policy.decision_schema if policy.kind.name not in ("Table", "WordLists") else None
    fields = (schema or {}).get("$defs", {}).get("fields", {}).get("properties", {})
    for name, about in fields.items():
        if "enum" in about:
            found[name] = tuple(one for one in about["enum"] if isinstance(one, str))
    return found


def _expressions(table: Table) -> Iterator[Expression]:
    yield from table.derived.values()
    yield from table.outputs.values()
    outcomes: list[Outcome] = [table.default]
    for rule in table.rules:
        outcomes.append(rule.outcome)
        if rule.when is not None:
            yield rule.when
    for outcome in outcomes:
        yield from outcome.computed.values()


def deciding(table: Table) -> Any:
    """What of a table decides: two tables with the same are the same policy, whatever their texts and places."""

    def texts(named: Mapping[str, Expression]) -> list[tuple[str, str]]:
        return [(name, expression.text) for name, expression in named.items()]

    def of(outcome: Outcome) -> Any:
        return (repr(dict(outcome.literals)), sorted(texts(outcome.computed)))

    read = set(_NAME.findall(" ".join(expression.text for expression in _expressions(table))))
    return (
        [(rule.id, rule.when.text if rule.when else None, of(rule.outcome)) for rule in table.rules],
        of(table.default),
        repr(dict(table.on_error)),
        table.hit,
        repr(sorted(item for item in table.constants.items() if item[0] in read)),
        repr(sorted(item for item in table.words.items() if item[0] in read)),
        texts(table.derived),
        texts(table.outputs),
    )


def _json(value: bool) -> str:
    return "true" if value else "false"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:39] + "…"
