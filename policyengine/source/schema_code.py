"""The check of a schema as one Python function, for data that is judged again and again: the inputs of decisions.

It says exactly what the functions of `schema_quick` say, in a tenth of their time. What it does not write itself, it
has them judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from policyengine.source.schema_quick import IGNORED, KEYWORDS, TYPES, Check, Compiler, UnsupportedError, place_of

_LARGEST = 2000
"""Lines that one function may have; a part of a larger schema is judged by a function of its own."""

_TESTS = {
    "string": "isinstance({}, str)",
    "boolean": "{0} is True or {0} is False",
    "integer": "type({0}) is int or integer({0})",
    "number": "type({0}) is int or type({0}) is float or number({0})",
    "array": "isinstance({}, list)",
    "object": "isinstance({}, dict)",
    "null": "{} is None",
}
_BOUNDS = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
_TEXT_SIZES = {"minLength": "<", "maxLength": ">"}
_LIST_SIZES = {"minItems": "<", "maxItems": ">"}


def function_of(schema: Mapping[str, Any], base: str, compiler: Compiler) -> Check:
    """A function that tells whether data is valid by `schema`, whose address is `base`. Raises UnsupportedError.

    The function raises nothing: what cannot be judged (data that is too deep) is not valid.
    """
    with compiler.beginning(schema):
        writer = _Writer(compiler, schema)
        writer.part(schema, "v", schema, base)
        try:
            return _defined(writer.lines, writer.names)
        except (SyntaxError, MemoryError, RecursionError):  # deeper than Python's own compiler goes
            check = writer.bound(compiler.compile(schema, schema, base))
            return _defined([f"if not {check}(v): return False"], writer.names)


def _defined(lines: Sequence[str], names: dict[str, Any]) -> Check:
    body = "\n".join(f"        {line}" for line in (*lines, "return True"))
    text = f"def check(v):\n    try:\n{body}\n    except Exception:\n        return False"
    exec(compile(text, "<schema>", "exec"), names)
    check: Check = names["check"]
    return check


class _Writer:
    """Writes statements that return False where data is not valid. A key that is missing raises KeyError."""

    def __init__(self, compiler: Compiler, root: Mapping[str, Any]) -> None:
        self.compiler = compiler
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"integer": TYPES["integer"], "number": TYPES["number"], "missing": object()}
        self._indent = 0
        self._inside: list[tuple[str, str]] = []

    def line(self, text: str) -> None:
        self.lines.append("    " * self._indent + text)

    def refuse_where(self, condition: str) -> None:
        self.line(f"if {condition}: return False")

    def bound(self, value: Any) -> str:
        """A name for a value that the function uses."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def fresh(self) -> str:
        """A name for a part of the data."""
        name = f"v{len(self.names)}"
        self.names[name] = None
        return name

    def part(self, schema: Any, value: str, root: Mapping[str, Any], base: str) -> None:
        """Judge `value` by a part of the schema `root`."""
        if schema is True:
            return
        if schema is False:
            self.line("return False")
            return
        if not isinstance(schema, Mapping):
            raise UnsupportedError
        left = {
            keyword: wanted
            for keyword, wanted in schema.items()
            if not (keyword in IGNORED or keyword.startswith("x-") or (keyword == "$id" and schema is root))
        }
        if len(self.lines) > _LARGEST:
            self.refuse_where(f"not {self.bound(self.compiler.compile(schema, root, base))}({value})")
            return
        kinds = self._types(left, value)
        self._numbers(left, value, kinds)
        self._sized(left, _TEXT_SIZES, "string", value, kinds)
        self._sized(left, _LIST_SIZES, "array", value, kinds)
        self._items(left, schema, value, kinds, root, base)
        self._object(left, schema, value, kinds, root, base)
        if "$ref" in left:
            self._reference(left.pop("$ref"), value, root, base)
        for keyword, wanted in left.items():
            make = KEYWORDS.get(keyword)
            if make is None:
                raise UnsupportedError(keyword)
            check = make(self.compiler, wanted, schema, root, base)
            if check is not None:
                self.refuse_where(f"not {self.bound(check)}({value})")

    def _types(self, left: dict[str, Any], value: str) -> frozenset[str]:
        """Judge type and choice; the types that are possible then."""
        wanted = left.pop("type", None)
        kinds = frozenset([wanted] if isinstance(wanted, str) else wanted) if wanted is not None else frozenset(_TESTS)
        choices = left.get("enum")
        if choices is not None and all(choice is None or isinstance(choice, str) for choice in choices):
            del left["enum"]
            kinds &= {"null" if choice is None else "string" for choice in choices}
            self.refuse_where(f"{value} not in {self.bound(_allowed(choices, kinds))}")
        elif wanted is not None:
            tests = [_TESTS[kind].format(value) for kind in sorted(kinds, key=list(_TESTS).index)]
            self.refuse_where(f"not ({' or '.join(tests)})")
        return kinds

    def _only(self, kind: str, value: str, kinds: frozenset[str]) -> str:
        """What has to hold for a value to be of a kind, as far as it is not known; empty where nothing has to."""
        others = kinds - ({"integer", "number"} if kind == "number" else {kind})
        if not others:
            return ""
        return f"{value} is not None" if others == {"null"} else f"({_TESTS[kind].format(value)})"

    def _numbers(self, left: dict[str, Any], value: str, kinds: frozenset[str]) -> None:
        for keyword, sign in _BOUNDS.items():
            if keyword not in left:
                continue
            wanted = left.pop(keyword)
            if kinds & {"integer", "number"}:
                guard = self._only("number", value, kinds)
                # Written so, a number that is none (NaN) is refused, as `schema_quick` has it.
                fails = f"not ({value} {sign} {self.bound(wanted)})"
                self.refuse_where(f"{guard} and {fails}" if guard else fails)

    def _sized(
        self, left: dict[str, Any], keywords: Mapping[str, str], kind: str, value: str, kinds: frozenset[str]
    ) -> None:
        for keyword, sign in keywords.items():
            if keyword not in left:
                continue
            wanted = left.pop(keyword)
            if kind in kinds:
                guard = self._only(kind, value, kinds)
                fails = f"len({value}) {sign} {self.bound(wanted)}"
                self.refuse_where(f"{guard} and {fails}" if guard else fails)

    def _items(
        self,
        left: dict[str, Any],
        schema: Mapping[str, Any],
        value: str,
        kinds: frozenset[str],
        root: Mapping[str, Any],
        base: str,
    ) -> None:
        if "items" not in left or "prefixItems" in schema:
            return
        wanted = left.pop("items")
        if "array" not in kinds:
            return
        guard = self._only("array", value, kinds)
        with self._block(f"if {guard}:" if guard else None):
            item = self.fresh()
            with self._block(f"for {item} in {value}:"):
                self.part(wanted, item, root, base)

    def _object(
        self,
        left: dict[str, Any],
        schema: Mapping[str, Any],
        value: str,
        kinds: frozenset[str],
        root: Mapping[str, Any],
        base: str,
    ) -> None:
        """Judge properties, required keys, and that there are no others."""
        closed = left.get("additionalProperties") is False and "patternProperties" not in schema
        properties = left.pop("properties", {})
        required = list(dict.fromkeys(left.pop("required", ())))
        if closed or left.get("additionalProperties") is True:
            del left["additionalProperties"]
        if "object" not in kinds or not (properties or required or closed):
            return
        guard = self._only("object", value, kinds)
        with self._block(f"if {guard}:" if guard else None):
            # A dict of another class may make up keys that it is asked for.
            self.line(f"if type({value}) is not dict: {value} = {{**{value}}}")
            for key in required:
                if key not in properties:
                    self.refuse_where(f"{self.bound(key)} not in {value}")
            optional = [key for key in properties if key not in required]
            known = len(properties) - len(optional)
            count = self.fresh() if closed and optional else ""
            if count:
                self.line(f"{count} = {known}")
            for key, part in properties.items():
                own, name = self.fresh(), self.bound(key)
                if key in optional:
                    self.line(f"{own} = {value}.get({name}, missing)")
                    with self._block(f"if {own} is not missing:"):
                        if count:
                            self.line(f"{count} += 1")
                        self.part(part, own, root, base)
                else:
                    self.line(f"{own} = {value}[{name}]")
                    self.part(part, own, root, base)
            if closed:
                self.refuse_where(f"len({value}) != {count or known}")

    def _reference(self, ref: str, value: str, root: Mapping[str, Any], base: str) -> None:
        place = place_of(ref, base)
        if place in self._inside:  # it refers to itself
            self.refuse_where(f"not {self.bound(self.compiler.reference(ref, root, base))}({value})")
            return
        target, there, address = self.compiler.target(ref, root, base)
        self._inside.append(place)
        self.part(target, value, there, address)
        self._inside.pop()

    @contextmanager
    def _block(self, head: str | None) -> Iterator[None]:
        """Lines one step further in, below `head`; where there is none, lines as they are."""
        if head is None:
            yield
            return
        self.line(head)
        begun = len(self.lines)
        self._indent += 1
        yield
        if len(self.lines) == begun:
            self.line("pass")
        self._indent -= 1


def _allowed(choices: Sequence[str | None], kinds: frozenset[str]) -> frozenset[str | None]:
    """The choices of the possible types."""
    return frozenset(choice for choice in choices if ("null" if choice is None else "string") in kinds)
