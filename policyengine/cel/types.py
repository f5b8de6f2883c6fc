"""Types of expressions, and how JSON Schema gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from policyengine.source.errors import InputError


@dataclass(frozen=True, slots=True)
class Type:
    """A type. Equality looks at `kind`, `params`, `name` and `nullable`; the rest refines what a checker can say.

    `kind` is one of bool, int, uint, double, string, bytes, null, timestamp, duration, dyn, error, list, map, type,
    object, abstract (such as `optional_type`), var (a type parameter), words (a word list).
    """

    kind: str
    params: tuple[Type, ...] = ()
    name: str = ""
    nullable: bool = False
    enum: tuple[Any, ...] | None = field(default=None, compare=False)
    max_items: int | None = field(default=None, compare=False)
    fields: Mapping[str, Field] | None = field(default=None, compare=False)
    extra: Type | None = field(default=None, compare=False)
    """For an object: the type of properties that the schema does not list, if it says that there are some."""

    def __str__(self) -> str:
        text = self.name if self.kind in ("object", "abstract", "var") else self.kind
        if self.params:
            text += f"({', '.join(map(str, self.params))})"
        return f"{text} or null" if self.nullable else text

    def with_params(self, params: tuple[Type, ...]) -> Type:
        """The same type with other parameters."""
        # by position: dataclasses.replace() is several times slower, and the checker does this all the time
        return Type(self.kind, params, self.name, self.nullable, self.enum, self.max_items, self.fields, self.extra)


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object."""

    type: Type
    required: bool
    description: str = ""


BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
TIMESTAMP, DURATION = Type("timestamp"), Type("duration")
DYN, ERROR, TYPE, WORDS = Type("dyn"), Type("error"), Type("type"), Type("words")


def list_of(item: Type, max_items: int | None = None) -> Type:
    """`list(item)`."""
    return Type("list", (item,), max_items=max_items)


def map_of(key: Type, value: Type) -> Type:
    """`map(key, value)`."""
    return Type("map", (key, value))


def type_of_type(inner: Type) -> Type:
    """`type(inner)`, the type of the expression `int`."""
    return Type("type", (inner,))


def abstract(name: str, *params: Type) -> Type:
    """A named type with parameters, such as `optional_type(int)`."""
    return Type("abstract", params, name)


def var(name: str) -> Type:
    """A type parameter."""
    return Type("var", (), name)


def nullable(inner: Type) -> Type:
    """The same type, or null."""
    return inner if inner.kind in ("dyn", "null") or inner.nullable else replace(inner, nullable=True)


def from_json_schema(schema: Mapping[str, Any] | bool, name: str = "input") -> Type:
    """The type that a JSON Schema (2020-12) describes. `name` is what messages call it.

    What JSON Schema can say and a type cannot (anyOf of several types, say) is `dyn`. Raises InputError for a
    `$ref` that does not point into the schema itself.
    """
    return _Reader(schema if isinstance(schema, Mapping) else {}).read(schema, name, ())


_SIMPLE = {"integer": INT, "number": DOUBLE, "string": STRING, "boolean": BOOL, "null": NULL}


def _beside(schema: Mapping[str, Any], part: Any) -> Any:
    """A part of a union with the type that is stated beside the union, where it states none itself."""
    if "type" in schema and isinstance(part, Mapping) and not part.keys() & {"type", "$ref"}:
        return {"type": schema["type"], **part}
    return part


def _of_type(values: Iterable[Any], kind: str) -> Iterator[Any]:
    """Those listed values that are of the type stated beside the list; to JSON Schema 3.0 is a whole number."""
    for value in values:
        if kind == "string":
            if isinstance(value, str):
                yield value
        elif isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
            yield int(value)


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root

    def read(self, schema: Any, name: str, refs: tuple[str, ...]) -> Type:
        if not isinstance(schema, Mapping):
            return DYN
        if "$ref" in schema:
            ref = schema["$ref"]
            if ref in refs:  # a schema that holds itself has no finite type
                return DYN
            return self.read(self._resolve(ref), name, (*refs, ref))
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self._union([self.read(_beside(schema, part), name, refs) for part in schema[union]])
        if len(schema.get("allOf", ())) == 1 and "type" not in schema:
            return self.read(schema["allOf"][0], name, refs)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self._union([self.read({**schema, "type": kind}, name, refs) for kind in kinds])
        if kinds is None:
            return self._untyped(schema)
        if kinds == "array":
            items = self.read(schema.get("items", True), f"{name}[]", refs)
            return list_of(items, schema.get("maxItems"))
        if kinds == "object":
            return self._object(schema, name, refs)
        simple = _SIMPLE.get(kinds, DYN)
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if values is not None and simple.kind in ("string", "int"):
            return replace(simple, enum=tuple(_of_type(values, simple.kind)))
        return simple

    def _untyped(self, schema: Mapping[str, Any]) -> Type:
        # `properties` alone makes no object: it says nothing of a text or a number, which is allowed too.
        values = schema.get("enum", [schema["const"]] if "const" in schema else None)
        if not values:
            return DYN
        found = {type(value) for value in values}
        null = type(None) in found
        found.discard(type(None))
        kind = {str: STRING, int: INT, bool: BOOL, float: DOUBLE}.get(found.pop()) if len(found) == 1 else None
        if kind is None:
            return DYN
        result = replace(kind, enum=tuple(value for value in values if value is not None))
        return nullable(result) if null else result

    def _object(self, schema: Mapping[str, Any], name: str, refs: tuple[str, ...]) -> Type:
        rest = schema.get("additionalProperties")
        properties = schema.get("properties")
        if properties is None:
            return map_of(STRING, self.read(rest if rest is not None else True, f"{name}[]", refs))
        required = set(schema.get("required", ()))
        fields = {
            key: Field(
                self.read(part, f"{name}.{key}", refs),
                key in required,
                str(part.get("description", "")) if isinstance(part, Mapping) else "",
            )
            for key, part in properties.items()
        }
        extra = self.read(rest, f"{name}[]", refs) if rest is True or isinstance(rest, Mapping) else None
        return Type("object", name=name, fields=fields, extra=extra)

    def _union(self, parts: list[Type]) -> Type:
        null = any(part.kind == "null" or part.nullable for part in parts)
        rest = [part for part in parts if part.kind != "null"]
        if not rest:
            return NULL
        if any(part != rest[0] for part in rest[1:]):
            if {part.kind for part in rest} == {"int", "double"}:
                return nullable(DOUBLE) if null else DOUBLE
            return DYN
        return nullable(rest[0]) if null else rest[0]

    def _resolve(self, ref: str) -> Any:
        target: Any = self.root
        if not ref.startswith("#"):
            raise InputError(f"$ref {ref!r} points outside the schema; only local references (#/$defs/...) are read")
        for step in ref[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping) and key in target:
                target = target[key]
            else:
                raise InputError(f"$ref {ref!r} points at nothing in the schema")
        return target
