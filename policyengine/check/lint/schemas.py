"""What the schemas say beyond right and wrong: fields that are deprecated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from posixpath import dirname, join, normpath
from typing import Any

from policyengine.source.errors import InputError
from policyengine.source.schema import load_schema

Path = tuple[str | int, ...]

_MARKED = '"deprecated": true'
_REF = re.compile(r'"\$ref": "([^"]*)"')


def deprecated_keys(data: Any, schema: Mapping[str, Any], name: str) -> Iterator[tuple[Path, str | None]]:
    """The keys in `data` that a schema (which is called `name`) calls deprecated, with what it says about them."""
    if not _has_deprecated(name):
        return
    found: dict[Path, str | None] = {}
    _walk(data, schema, name, (), found)
    yield from found.items()


def _has_deprecated(name: str) -> bool:
    """Whether a schema file, or one that it refers to, marks anything."""
    seen = {name}
    waiting = [name]
    while waiting:
        marks, others = _marks(waiting.pop())
        if marks:
            return True
        waiting += others - seen
        seen |= others
    return False


@cache
def _marks(name: str) -> tuple[bool, frozenset[str]]:
    """Whether a schema file marks anything itself, and the files that it refers to."""
    # As text again, because searching that is many times faster than walking the tree.
    text = json.dumps(load_schema(name))
    return _MARKED in text, frozenset(file for ref in _REF.findall(text) if (file := _file(ref, name)) is not None)


def _walk(data: Any, schema: Any, name: str, path: Path, found: dict[Path, str | None]) -> None:
    if not isinstance(schema, Mapping):
        return
    if path and schema.get("deprecated") is True:
        found.setdefault(path, schema.get("description"))
    if "$ref" in schema:
        target, where = _resolve(schema["$ref"], name)
        _walk(data, target, where, path, found)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, ()):
            _walk(data, part, name, path, found)
    if isinstance(data, dict):
        properties = schema.get("properties", {})
        for key, value in data.items():
            part = properties.get(key, schema.get("additionalProperties"))
            _walk(value, part, name, (*path, key), found)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            _walk(value, schema.get("items"), name, (*path, index), found)


def _file(ref: Any, name: str) -> str | None:
    if not isinstance(ref, str):
        return None
    file = ref.partition("#")[0]
    return normpath(join(dirname(name), file)).removesuffix(".schema.json") if file else name


def _resolve(ref: str, name: str) -> tuple[Any, str]:
    file = _file(ref, name) or name
    try:
        target: Any = load_schema(file)
    except InputError:
        return None, name
    for step in ref.partition("#")[2].split("/")[1:]:
        target = target.get(step) if isinstance(target, dict) else None
    return target, file
