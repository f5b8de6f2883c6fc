"""JSON Schemas compiled to functions that only say yes or no.

Nearly all data is valid, and jsonschema takes milliseconds to say so and as long again to be imported. These
functions answer at once for the keywords our schemas use; jsonschema is asked only to explain a no, and for a
schema with any other keyword.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from policyengine.source.foreign_schema import is_finite, pattern_search
from policyengine.source.regex import PatternError, utf8

FOREIGN = "file:///schemas/unnamed"
"""The address of a schema that is none of this package, whose patterns anybody may have written."""

Check = Callable[[Any], bool]
# The contents of the schema file of that name.
Load = Callable[[str], Mapping[str, Any]]


class UnsupportedError(Exception):
    """The schema uses a keyword that this module leaves to jsonschema."""


class Compiler:
    """Makes checks of schemas that refer to each other; what several of them refer to is compiled once.

    `load` gives the schema at an address.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._lock = Lock()
        self._files: dict[tuple[str, str], list[Check]] = {}
        self._root: Mapping[str, Any] = {}
        self._own: dict[tuple[str, str], list[Check]] = {}

    def check(self, schema: Mapping[str, Any], base: str) -> Check:
        """A function that tells whether data is valid by `schema`, whose address is `base`. Raises UnsupportedError."""
        with self.beginning(schema):
            return self.compile(schema, schema, base)

    @contextmanager
    def beginning(self, schema: Mapping[str, Any]) -> Iterator[None]:
        """While a schema is compiled: one at a time."""
        with self._lock:
            self._root = schema
            self._own = {}  # by its own address, which another schema may have too
            try:
                yield
            except BaseException:
                self._files.clear()  # some of it may refer to what was never finished
                raise

    def compile(self, schema: Any, root: Mapping[str, Any], base: str) -> Check:
        """The check of a part of the schema `root`."""
        if schema is True:
            return lambda _: True
        if schema is False:
            return lambda _: False
        if not isinstance(schema, Mapping):
            raise UnsupportedError
        checks: list[Check] = []
        for keyword, wanted in schema.items():
            # Keywords with `x-` are our own notes; JSON Schema ignores what it does not know.
            if keyword in IGNORED or keyword.startswith("x-") or (keyword == "$id" and schema is root):
                continue
            make = KEYWORDS.get(keyword)
            if make is None:
                raise UnsupportedError(keyword)
            check = make(self, wanted, schema, root, base)
            if check is not None:
                checks.append(check)
        return _all(checks)

    def reference(self, ref: str, root: Mapping[str, Any], base: str) -> Check:
        """The check of what a reference in the schema `root` points to."""
        place = place_of(ref, base)
        loaded = ref[:1] not in ("", "#") or root is not self._root
        known = self._files if loaded else self._own
        found = known.get(place)
        if found is None:
            found = known[place] = []
            found.append(self.compile(*self.target(ref, root, base)))
        if found:
            return found[0]
        cell = found  # a schema that refers to itself: known once it is compiled
        return lambda value: cell[0](value)

    def target(self, ref: str, root: Mapping[str, Any], base: str) -> tuple[Any, Mapping[str, Any], str]:
        """What a reference in the schema `root` points to, the schema that holds it, and its address."""
        address, pointer = place_of(ref, base)
        there = root if ref[:1] in ("", "#") else self._load(address)
        target: Any = there
        for step in pointer.split("/")[1:]:
            try:
                target = target[step.replace("~1", "/").replace("~0", "~")]
            except (KeyError, TypeError, IndexError):
                raise UnsupportedError(ref) from None
        return target, there, address


def place_of(ref: str, base: str) -> tuple[str, str]:
    """The address of the schema that a reference points into, and the place there. Raises UnsupportedError."""
    from urllib.parse import urljoin

    file, _, pointer = ref.partition("#")
    if pointer and not pointer.startswith("/"):
        raise UnsupportedError("anchor")
    return urljoin(base, file) if file else base, pointer


def _all(checks: list[Check]) -> Check:
    if len(checks) == 1:
        return checks[0]
    if len(checks) == 2:
        first, second = checks
        return lambda value: first(value) and second(value)
    return lambda value: all(check(value) for check in checks)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: dict[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "number": is_finite,
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _same(one: Any, other: Any) -> bool:
    """Equality as JSON has it: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _unique(value: Any) -> bool:
    if not isinstance(value, list):
        return True
    if all(isinstance(item, str) for item in value):
        return len(set(value)) == len(value)
    return not any(_same(item, other) for at, item in enumerate(value) for other in value[:at])


# What compiles each keyword: (compiler, value of the keyword, schema around it, root, base) to a check.


def _type(_c: Compiler, wanted: Any, *_: Any) -> Check:
    if isinstance(wanted, str):
        return TYPES[wanted]
    checks = [TYPES[name] for name in wanted]
    return lambda value: any(check(value) for check in checks)


def _enum(_c: Compiler, wanted: Any, *_: Any) -> Check:
    if all(isinstance(choice, str) for choice in wanted):
        texts = frozenset(wanted)
        return lambda value: isinstance(value, str) and value in texts
    return lambda value: any(_same(value, choice) for choice in wanted)


def _const(_c: Compiler, wanted: Any, *_: Any) -> Check:
    return lambda value: _same(value, wanted)


def _ref(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    return c.reference(wanted, root, base)


def _required(_c: Compiler, wanted: Any, *_: Any) -> Check:
    return lambda value: not isinstance(value, dict) or all(key in value for key in wanted)


def _dependent_required(_c: Compiler, wanted: Any, *_: Any) -> Check:
    return lambda value: (
        not isinstance(value, dict)
        or all(other in value for key, others in wanted.items() if key in value for other in others)
    )


def _properties(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    checks = {key: c.compile(part, root, base) for key, part in wanted.items()}

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return all(checks[key](child) for key, child in value.items() if key in checks)

    return check


def _pattern_properties(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    checks = [(_search(pattern, base), c.compile(part, root, base)) for pattern, part in wanted.items()]

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return all(part(child) for key, child in value.items() for search, part in checks if search(key))

    return check


def _additional(c: Compiler, wanted: Any, schema: Any, root: Any, base: str) -> Check:
    known = frozenset(schema.get("properties", {}))
    patterns = [_search(pattern, base) for pattern in schema.get("patternProperties", {})]
    part = c.compile(wanted, root, base)

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return all(
            part(child)
            for key, child in value.items()
            if key not in known and not any(search(key) for search in patterns)
        )

    return check


def _names(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    part = c.compile(wanted, root, base)
    return lambda value: not isinstance(value, dict) or all(part(key) for key in value)


def _items(c: Compiler, wanted: Any, schema: Any, root: Any, base: str) -> Check:
    part = c.compile(wanted, root, base)
    first = len(schema.get("prefixItems", ()))
    return lambda value: not isinstance(value, list) or all(part(item) for item in value[first:])


def _prefix_items(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    parts = [c.compile(part, root, base) for part in wanted]
    return lambda value: (
        not isinstance(value, list) or all(part(item) for part, item in zip(parts, value, strict=False))
    )


def _all_of(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    return _all([c.compile(part, root, base) for part in wanted])


def _any_of(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    parts = [c.compile(part, root, base) for part in wanted]
    return lambda value: any(part(value) for part in parts)


def _one_of(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    parts = [c.compile(part, root, base) for part in wanted]
    return lambda value: sum(part(value) for part in parts) == 1


def _not(c: Compiler, wanted: Any, _schema: Any, root: Any, base: str) -> Check:
    part = c.compile(wanted, root, base)
    return lambda value: not part(value)


def _if(c: Compiler, wanted: Any, schema: Any, root: Any, base: str) -> Check:
    condition = c.compile(wanted, root, base)
    then = c.compile(schema.get("then", True), root, base)
    otherwise = c.compile(schema.get("else", True), root, base)
    return lambda value: then(value) if condition(value) else otherwise(value)


def _pattern(_c: Compiler, wanted: Any, _schema: Any, _root: Any, base: str) -> Check:
    search = _search(wanted, base)
    return lambda value: not isinstance(value, str) or search(value)


def _search(pattern: str, base: str) -> Callable[[str], bool]:
    """Whether a pattern of the schema at `base` matches in a text. Raises UnsupportedError."""
    if base != FOREIGN:
        packaged = re.compile(pattern).search  # ours, and known to be harmless: RE2 takes 15 ms to import
        return lambda text: packaged(text) is not None
    try:
        search = pattern_search(pattern)
    except PatternError:
        raise UnsupportedError(pattern) from None
    return lambda text: search(utf8(text)) is not None


def _unique_items(_c: Compiler, wanted: Any, *_: Any) -> Check | None:
    return _unique if wanted else None


def _bound(kind: Check, holds: Callable[[Any, Any], bool]) -> Callable[..., Check]:
    def make(_c: Compiler, wanted: Any, *_: Any) -> Check:
        return lambda value: not kind(value) or holds(value, wanted)

    return make


KEYWORDS: dict[str, Callable[..., Check | None]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "$ref": _ref,
    "required": _required,
    "dependentRequired": _dependent_required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "items": _items,
    "prefixItems": _prefix_items,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
    "minimum": _bound(_is_number, lambda value, wanted: value >= wanted),
    "maximum": _bound(_is_number, lambda value, wanted: value <= wanted),
    "exclusiveMinimum": _bound(_is_number, lambda value, wanted: value > wanted),
    "exclusiveMaximum": _bound(_is_number, lambda value, wanted: value < wanted),
    "minLength": _bound(TYPES["string"], lambda value, wanted: len(value) >= wanted),
    "maxLength": _bound(TYPES["string"], lambda value, wanted: len(value) <= wanted),
    "minItems": _bound(TYPES["array"], lambda value, wanted: len(value) >= wanted),
    "maxItems": _bound(TYPES["array"], lambda value, wanted: len(value) <= wanted),
    "minProperties": _bound(TYPES["object"], lambda value, wanted: len(value) >= wanted),
    "maxProperties": _bound(TYPES["object"], lambda value, wanted: len(value) <= wanted),
}
# Keywords that judge nothing by themselves; `then` and `else` belong to `if`.
IGNORED = frozenset(
    {"$schema", "$defs", "$comment", "title", "description", "default", "examples", "deprecated"}
    | {"readOnly", "writeOnly", "format", "then", "else"}
)
