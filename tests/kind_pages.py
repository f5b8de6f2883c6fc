"""docs/kinds.md, made from the schemas: `python -m tests.kind_pages --write` writes it, a test checks it is current."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policyengine.kinds.registry import KINDS
from policyengine.source.errors import InputError
from policyengine.source.schema import load_schema

PAGE = Path(__file__).parents[1] / "docs" / "kinds.md"

_HEAD = """\
# Policy kinds

Made from `schemas/` by `python -m tests.kind_pages --write`.

Every policy document has `apiVersion: policyengine/v1`, `kind`, `metadata` (name, version, owner, description) and
`spec`. Each kind has a JSON Schema for the document, one for the input of its decisions and one for what it decides;
an editor that knows the YAML language server completes and checks a document that begins with
`# yaml-language-server: $schema=PATH` (`policyengine init` writes these lines).
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(line for kind in KINDS.values() for line in _kind(kind.name, kind.file, kind.title))])


def _kind(name: str, file: str, title: str) -> Iterator[str]:
    schema = load_schema(file)
    spec = schema["properties"]["spec"]
    yield f"## {name}\n\n{title}.\n"
    yield from _fields("`spec`", spec, schema)
    for label, folder in (("Input", "inputs"), ("Decision", "decisions")):
        try:
            found = load_schema(f"{folder}/{file}")
        except InputError:
            continue
        yield from _fields(label, found.get("$defs", {}).get("fields", found), found)


def _fields(label: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        f"| `{name}` | {_type(field)} | {_described(field)} |" for name, field in schema.get("properties", {}).items()
    ]
    if rows:
        yield "\n".join([f"| {label} | type | meaning |", "|---|---|---|", *rows, ""])


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{'null' if value is None else value}`" for value in field["enum"])
    kind = field.get("type")
    if kind is None and ("$ref" in field or "allOf" in field):
        kind = _resolved(field).get("type")
    if isinstance(kind, list):
        return " or ".join(kind)
    return str(kind or "any")


def _described(field: Mapping[str, Any]) -> str:
    text = field.get("description") or _resolved(field).get("description", "")
    return str(text).replace("|", "\\|")


def _resolved(field: Mapping[str, Any]) -> Mapping[str, Any]:
    ref = field.get("$ref") or next((part["$ref"] for part in field.get("allOf", ()) if "$ref" in part), None)
    if not isinstance(ref, str) or "#" not in ref:
        return {}
    name, _, pointer = ref.partition("#/")
    found: Any = load_schema(name) if name else {}
    for step in pointer.split("/"):
        found = found.get(step, {})
    return found if isinstance(found, Mapping) else {}


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    sys.exit(PAGE.read_text(encoding="utf-8") != page())
