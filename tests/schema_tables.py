"""Tables of fields made from the JSON Schemas, for the pages of docs/.

A field below another is called by its path: `[]` stands for each item of a list, `*` for each name of a mapping, and
`a/b` for both, where two are made alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policyengine.source.schema import load_schema

Schema = Mapping[str, Any]

SHARED = {
    "constants": "values by name",
    "derived": "expressions by name",
    "expression": "expression",
    "expressions": "expressions by name",
    "hit": "hit",
    "rule": "rule",
    "default": "outcome",
    "properties": "list of claims",
    "property": "claim",
    "measure": "measure",
    "schema": "JSON Schema",
}
"""Definitions that another page describes (docs/policies.md, docs/metrics.md, JSON Schema's own), and what a reader
calls them. One may hold itself, so none is gone into."""

_TYPES = {"array": "list", "object": "object", "null": "null"}


@dataclass(frozen=True, slots=True)
class Row:
    """One field."""

    name: str
    type: str
    required: bool
    meaning: str


def table(head: str, rows: Sequence[Row]) -> str:
    """Rows as Markdown; the column that says what has to be there is left out where nothing does."""
    rows = _joined(rows)
    if not any(row.required for row in rows):
        return "\n".join([f"| {head} | type | meaning |", "|---|---|---|", *(
            f"| {row.name} | {_cell(row.type)} | {_cell(row.meaning)} |" for row in rows
        )])  # fmt: skip
    return "\n".join([f"| {head} | type | required | meaning |", "|---|---|---|---|", *(
        f"| {row.name} | {_cell(row.type)} | {'yes' if row.required else ''} | {_cell(row.meaning)} |" for row in rows
    )])  # fmt: skip


def fields(address: str) -> tuple[Schema, str]:
    """The schema at `FILE#/POINTER`, and the file that its own references start from."""
    file, _, pointer = address.partition("#/")
    found: Any = load_schema(file)
    for step in pointer.split("/") if pointer else ():
        found = found[step]
    return found, file


def rows(schema: Schema, file: str, before: str = "", leave: Sequence[str] = ()) -> Iterator[Row]:
    """The fields of an object and those below them, without the names in `leave`."""
    required = schema.get("required", ())
    groups: list[list[tuple[str, Schema, Schema, str]]] = []
    for name, field in schema.get("properties", {}).items():
        if name in leave:
            continue
        resolved, home = resolve(field, file)
        if groups and _shape(groups[-1][-1][2]) == _shape(resolved):
            groups[-1].append((name, field, resolved, home))
        else:
            groups.append([(name, field, resolved, home)])
    for group in groups:
        for name, field, resolved, _ in group:
            yield Row(f"`{before}{name}`", type_of(field, file), name in required, resolved.get("description", ""))
        name, field, resolved, home = group[0]
        if _described_elsewhere(field):
            continue
        # What lies below fields that are made alike is described once.
        alike = [one[0] for one in group]
        every = len(alike) > 1 and len(alike) == len(schema["properties"])
        yield from _below(resolved, home, f"{before}{'*' if every else '/'.join(alike)}")


def _below(schema: Schema, file: str, path: str) -> Iterator[Row]:
    if schema.get("properties"):
        yield from rows(schema, file, f"{path}.")
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        inner = schema.get(key)
        if isinstance(inner, Mapping) and not _described_elsewhere(inner):
            resolved, home = resolve(inner, file)
            for one in _choices(resolved, home):
                yield from _below(*one, f"{path}{mark}")


def _choices(schema: Schema, file: str) -> list[tuple[Schema, str]]:
    options = schema.get("oneOf") or schema.get("anyOf")
    if schema.get("properties") or not options:
        return [(schema, file)]
    return [resolve(one, file) for one in options if not _described_elsewhere(one)]


def resolve(field: Schema, file: str) -> tuple[Schema, str]:
    """A field with what it refers to joined to it, and the file that further references start from."""
    joined: dict[str, Any] = {}
    home = file
    for part in (*field.get("allOf", ()), *([{"$ref": field["$ref"]}] if "$ref" in field else [])):
        if "$ref" not in part:
            continue
        name, _, pointer = part["$ref"].partition("#/")
        found, inner = fields(f"{name or file}#/{pointer}")
        whole, home = resolve(found, inner)
        joined = {**whole, **joined}
    own = {key: value for key, value in field.items() if key not in ("$ref", "allOf")}
    return {**joined, **own}, home


def type_of(field: Schema, file: str) -> str:
    """What a value of the field is, in words."""
    reference = _reference(field)
    if reference in SHARED and reference != "hit":
        return SHARED[reference]
    schema, home = resolve(field, file)
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{'null' if value is None else value}`" for value in schema["enum"])
    options = schema.get("oneOf") or schema.get("anyOf")
    if options and "type" not in schema:
        return " or ".join(dict.fromkeys(type_of(one, home) for one in options))
    kinds = schema.get("type", "any JSON value")
    words = [_kind(one, schema, home) for one in (kinds if isinstance(kinds, list) else [kinds])]
    return " or ".join(words) + _bounds(schema)


def _kind(name: str, schema: Schema, file: str) -> str:
    if name == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {_several(type_of(schema['items'], file))}"
    values = schema.get("additionalProperties")
    if name == "object" and isinstance(values, Mapping) and not schema.get("properties"):
        return f"{_several(type_of(values, file))} by name"
    return _TYPES.get(name, name)


def _several(text: str) -> str:
    many = ("string", "integer", "number", "object", "list", "claim", "rule", "expression", "measure")
    return f"{text}s" if text in many else text


def _bounds(schema: Schema) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    found = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
    sizes = {"minItems": "at least", "maxItems": "at most"}
    found += [f"{words} {schema[key]}" for key, words in sizes.items() if key in schema and schema[key] != 0]
    return f", {', '.join(found)}" if found else ""


def _reference(field: Schema) -> str:
    """The name in `$defs` that a field refers to."""
    parts = [field, *field.get("allOf", ())]
    return next((part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part), "")


def _described_elsewhere(field: Schema) -> bool:
    return _reference(field) in SHARED or (
        isinstance(field.get("items"), Mapping) and _reference(field["items"]) in SHARED
    )


def _shape(schema: Schema) -> Any:
    """A schema without its words."""
    if isinstance(schema, Mapping):
        return {k: _shape(v) for k, v in schema.items() if k not in ("description", "examples", "title")}
    return [_shape(one) for one in schema] if isinstance(schema, list) else schema


def _joined(rows: Sequence[Row]) -> list[Row]:
    """Rows in a row that say the same, as one."""
    found: list[Row] = []
    for row in rows:
        last = found[-1] if found else None
        if last and (last.type, last.required, last.meaning) == (row.type, row.required, row.meaning):
            found[-1] = Row(f"{last.name}, {row.name}", row.type, row.required, row.meaning)
        else:
            found.append(row)
    return found


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
