"""What is wrong with the JSON Schema of an input that a person wrote, beyond what `schemas/input-schema` says of it.

A schema without faults can be used everywhere: its references lead somewhere and end, its patterns are RE2, and judging
a value takes a number of steps in proportion to the value.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.source.foreign_schema import pattern_search
from policyengine.source.nearest import did_you_mean
from policyengine.source.regex import PatternError

Path = tuple[str | int, ...]

MAX_PARTS = 5_000
"""How many parts a schema may have once references are followed. A person's has some dozens."""
MAX_DEPTH = 100
"""How deep they may lie in each other."""

_ONE = ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else")
_LISTS = ("prefixItems", "allOf", "anyOf", "oneOf")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_REFERENCE = re.compile(r"#/\$defs/([^/%]+)")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, at a path of the schema; `at_key` where the key itself is wrong."""

    path: Path
    message: str
    hint: str
    at_key: bool = False


def faults(schema: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with a schema that `schemas/input-schema` has accepted."""
    parts = {path: part for path, part in _parts(schema, ()) if isinstance(part, Mapping)}
    found = [
        fault for path, part in parts.items() for fault in (*_patterns(path, part), *_reference(schema, path, part))
    ]
    return found or list(_endless(parts))


def _parts(schema: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every part of a schema that is a schema itself; `path` is its own."""
    waiting = deque([(path, schema)])
    while waiting:
        at, part = waiting.popleft()
        yield at, part
        if isinstance(part, Mapping):
            waiting += [((*at, *inner), one) for inner, one in _inside(part)]
            waiting += [((*at, "$defs", name), one) for name, one in part.get("$defs", {}).items()]


def _inside(part: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    for key in _ONE:
        if key in part:
            yield (key,), part[key]
    for key in _LISTS:
        for index, one in enumerate(part.get(key, ())):
            yield (key, index), one
    for key in _NAMED:
        for name, one in part.get(key, {}).items():
            yield (key, name), one


def _patterns(path: Path, part: Mapping[str, Any]) -> Iterator[Fault]:
    written = [((*path, "pattern"), part["pattern"], False)] if "pattern" in part else []
    written += [((*path, "patternProperties", one), one, True) for one in part.get("patternProperties", ())]
    for at, pattern, at_key in written:
        try:
            pattern_search(pattern)
        except PatternError as error:
            hint = "patterns are those of RE2, without lookaround and back-references"
            yield Fault(at, f"this is no regular expression of RE2: {error}", hint, at_key)


def _reference(schema: Mapping[str, Any], path: Path, part: Mapping[str, Any]) -> Iterator[Fault]:
    if "$ref" not in part:
        return
    known = schema.get("$defs", {})
    name = _name(part["$ref"])
    if name is None:
        hint = "write `#/$defs/NAME`, and the part under $defs: of this input; nothing is fetched"
        yield Fault((*path, "$ref"), "a reference leads to a part of this input's schema and nowhere else", hint)
    elif name not in known:
        listed = f"there is: {', '.join(list(known)[:12])}" if known else "this input has no $defs:"
        hint = did_you_mean(name, known) or listed
        yield Fault((*path, "$ref"), f"there is no `{name}` under $defs: of this input", hint)


def _name(reference: str) -> str | None:
    found = _REFERENCE.fullmatch(reference)
    return found[1].replace("~1", "/").replace("~0", "~") if found else None


def _target(part: Mapping[str, Any]) -> Path:
    """The path of what a part refers to; a path of nothing where it does not refer to anything."""
    return "$defs", _name(part.get("$ref", "")) or ""


class _TooLargeError(Exception):
    pass


def _endless(parts: Mapping[Path, Mapping[str, Any]]) -> Iterator[Fault]:
    """References that lead back to where they stand, and schemas that they make too large."""
    sizes: dict[Path, int] = {}
    above: list[Path] = []

    def size(path: Path) -> int:
        if path in sizes:
            return sizes[path]
        part = parts.get(path)
        if part is None:  # true or false
            return 1
        if path in above:
            raise _CircleError(path)
        if len(above) >= MAX_DEPTH:
            raise _TooLargeError
        above.append(path)
        total = 1 + sum(size((*path, *inner)) for inner, _ in _inside(part))
        if "$ref" in part:
            total += size(_target(part))
        above.pop()
        if total > MAX_PARTS:
            raise _TooLargeError
        sizes[path] = total
        return total

    for path in [(), *(one for one in parts if one[:1] == ("$defs",) and len(one) == 2)]:
        above.clear()
        try:
            size(path)
        except _CircleError as error:
            at = next(one for one in reversed(above) if _target(parts[one]) == error.path)
            yield Fault((*at, "$ref"), "this leads back to where it stands", "say in full how deep an input may go")
            return
        except _TooLargeError:
            hint = "make it smaller, or leave parts of it open (`type: object`)"
            about = f"deeper than {MAX_DEPTH} levels, or larger than {MAX_PARTS} parts"
            yield Fault(path, f"with references followed the schema is {about}", hint)
            return


class _CircleError(Exception):
    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__()
