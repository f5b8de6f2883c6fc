"""Outcomes of one table that do not decide the same fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity
from policyengine.source.nearest import nearest

if TYPE_CHECKING:
    from policyengine.kinds.policy import Policy
    from policyengine.source.place import Place

_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class _Row:
    """One outcome: what it is called, where it stands, its fields that are written out, and all its fields."""

    name: str
    place: Place
    literals: Mapping[str, Any]
    fields: frozenset[str]


def check(context: Context) -> Iterator[Hit]:
    """The fields of every outcome of a table whose fields are the owner's own; other kinds have a schema for them."""
    for policy in context.policies.values():
        if policy.kind.name == "Table":
            rows = list(_rows(policy))
            yield from _missing(rows)
            yield from _mixed(rows)


def _rows(policy: Policy) -> Iterator[_Row]:
    table, document = policy.table, policy.document
    everywhere = frozenset(table.outputs)
    for index, rule in enumerate(table.rules):
        place = document.place(("spec", "rules", index, "id"))
        one = rule.outcome
        yield _Row(f"the rule `{rule.id}`", place, one.literals, everywhere.union(one.literals, one.computed))
    if "default" in policy.spec:
        one = table.default
        place = document.key_place(("spec", "default"))
        yield _Row("the default", place, one.literals, everywhere.union(one.literals, one.computed))
    if table.hit.value != "collect":  # there it stands in the place of the list
        place = document.key_place(("spec", "on_error"))
        yield _Row("`on_error`", place, table.on_error, frozenset(table.on_error))


def _missing(rows: list[_Row]) -> Iterator[Hit]:
    """Told where fewer are: of the outcomes that have a field and of those that have not. A slip is told once."""
    fields = dict.fromkeys(field for row in rows for field in sorted(row.fields))
    having = {field: [row for row in rows if field in row.fields] for field in fields}
    usual = [field for field in fields if 2 * len(having[field]) >= len(rows)]
    meant: set[tuple[str, str]] = set()
    for field in (field for field in fields if field not in usual):
        for row in having[field]:
            near = nearest(field, [one for one in usual if one not in row.fields])
            if near is not None:
                meant.add((row.name, near))
            message = f"{row.name} decides `{field}`, which most other outcomes do not"
            yield Hit(row.place, message, f"did you mean `{near}`?" if near is not None else _EVERYWHERE)
    for field in usual:
        for row in rows:
            if field not in row.fields and (row.name, field) not in meant:
                yield Hit(row.place, f"{row.name} decides no `{field}`, as the other outcomes do", _EVERYWHERE)


_EVERYWHERE = "decide it in every outcome, or by `unless_set` where an outcome does not"


def _mixed(rows: list[_Row]) -> Iterator[Hit]:
    for field in dict.fromkeys(field for row in rows for field in row.literals):
        kinds = {row.name: _kind(row.literals[field]) for row in rows if row.literals.get(field) is not None}
        usual = Counter(kinds.values()).most_common(1)[0][0] if kinds else None
        for row in rows:
            if (kind := kinds.get(row.name)) is not None and kind != usual:
                yield Hit(row.place, f"`{field}` of {row.name} is {kind}, elsewhere it is {usual}", "use one type")


def _kind(value: Any) -> str:
    return _KINDS.get(type(value)) or ("a mapping" if isinstance(value, Mapping) else "a list")


RULE = Rule(
    code="uneven-outcome",
    title="Outcomes of a table decide different fields",
    why="""\
An agent that asks for a field fails where an outcome does not decide it, and a misspelt field decides nothing. A table
has no schema of what it decides, so its outcomes are held to each other.
""",
    bad="""\
rules:
  - {id: many, when: tokens >= 3, outcome: {action: stop}}
  - {id: some, when: tokens >= 1, outcome: {acton: warn}}
default: {outcome: {action: go_on}}
on_error: {action: stop}
""",
    good="""\
rules:
  - {id: many, when: tokens >= 3, outcome: {action: stop}}
  - {id: some, when: tokens >= 1, outcome: {action: warn}}
default: {outcome: {action: go_on}}
on_error: {action: stop}
""",
    severity=Severity.WARNING,
    check=check,
)
