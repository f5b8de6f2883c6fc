"""Values worth trying for each field of an input, where no solver says which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policyengine.cel.syntax import Literal, walk
from policyengine.check.proofs.inputs import followed
from policyengine.check.proofs.reading import Read
from policyengine.check.proofs.shrinking import Path, at, leaves
from policyengine.check.proofs.witnesses import shapes, try_texts

_MOST_TEXTS = 60


def alternatives(
    read: Read, schema: Mapping[str, Any], input: Mapping[str, Any], near: Iterable[Any] = ()
) -> dict[Path, list[Any]]:
    """Other values for every field of an input, list fields included; some may not fit the schema.

    Numbers among `near` and beside them are tried as well.
    """
    numbers = _numbers(read, input, near)
    texts = try_texts(read)[:_MOST_TEXTS]
    found: dict[Path, list[Any]] = {}
    for path in leaves(dict(input)):
        value = at(input, path)
        part = _described(schema, path)
        options = [one for one in _values(value, part, numbers, texts) if one != value or type(one) is not type(value)]
        if options:
            found[path] = options
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, Mapping) and part.get("type") == "object" and "properties" not in part:
            given = input.get(name)
            own = given if isinstance(given, dict) else {}
            found[(name,)] = [{**own, **shape} for shape in shapes(read) if isinstance(shape, dict)]
    return found


def _values(value: Any, part: Mapping[str, Any], numbers: list[int], texts: list[str]) -> Iterator[Any]:
    kinds = part.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "enum" in part:
        yield from part["enum"]
        return
    if isinstance(value, list):
        yield []
        yield from ([*value[:index], *value[index + 1 :]] for index in range(len(value)))
        return
    if "boolean" in kinds or isinstance(value, bool):
        yield from (True, False)
    if "integer" in kinds or "number" in kinds:
        yield from numbers
    if "string" in kinds:
        yield from texts
    if "null" in kinds:
        yield None


def _numbers(read: Read, input: Mapping[str, Any], near: Iterable[Any]) -> list[int]:
    """Numbers at which something may change: those the policy writes, those of the input, and their neighbours."""
    seeds = {0, 10**9}
    for program in read.programs():
        for node in walk(program.node) if program.node is not None else ():
            if isinstance(node, Literal) and isinstance(node.value, (int, float)) and node.value == node.value:
                seeds.add(int(node.value))
    seeds.update(int(one) for one in read.table.constants.values() if isinstance(one, (int, float)))
    seeds.update(int(one) for one in near if isinstance(one, (int, float)) and abs(one) < 2**53)
    seeds.update(int(one) for path in leaves(dict(input)) if isinstance(one := at(input, path), (int, float)))
    return sorted({seed + step for seed in seeds for step in (-1, 0, 1)}, key=abs)


def _described(schema: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    part = followed(schema, schema)
    for step in path:
        inner = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
        part = followed(inner, schema)
    return part
