"""The check of a schema as one Python function, for data that is judged again and again: the inputs of decisions.

It says exactly what the functions of `schema_quick` say, in a tenth of their time. What it does not write itself, it
has them judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from policyengine.source.schema_quick import IGNORED, KEYWORDS, TYPES, Check, Compiler, UnsupportedError, place_of

_LARGEST = 2000
"""Lines that one function may have; a part of a larger schema is judged by a function of its own."""

_TESTS = {
    "string": "isinstance({}, str)",
    "boolean": "{0} is True or {0} is False",
    "integer": "type({0}) is int or integer({0})",
    # A number less itself is 0, but for one that is infinite or NaN.
    "number": "type({0}) is int or (type({0}) is float and {0} - {0} == 0) or number({0})",
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
        writer.judge(schema, "v", schema, base)
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


@dataclass
class _Part:
    """A part of the schema `root`, and the name of the data that it judges."""

    schema: Mapping[str, Any]
    value: str
    root: Mapping[str, Any]
    base: str
    left: dict[str, Any]
    """The keywords that nothing has been written for yet."""
    kinds: frozenset[str] = frozenset(_TESTS)
    """The types that are still possible."""

    def take(self, keyword: str, default: Any = None) -> Any:
        """What a keyword wants, as something is written for it."""
        return self.left.pop(keyword, default)

    def only(self, kind: str) -> str:
        """What has to hold for the value to be of a kind, as far as it is not known; empty where nothing has to."""
        others = self.kinds - ({"integer", "number"} if kind == "number" else {kind})
        if not others:
            return ""
        return f"{self.value} is not None" if others == {"null"} else f"({_TESTS[kind].format(self.value)})"


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

    def judge(self, schema: Any, value: str, root: Mapping[str, Any], base: str) -> None:
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
        part = _Part(schema, value, root, base, left)
        self._types(part)
        self._numbers(part)
        self._sized(part, _TEXT_SIZES, "string")
        self._sized(part, _LIST_SIZES, "array")
        self._items(part)
        self._object(part)
        if "$ref" in left:
            self._reference(part.take("$ref"), value, root, base)
        for keyword, wanted in left.items():
            make = KEYWORDS.get(keyword)
            if make is None:
                raise UnsupportedError(keyword)
            check = make(self.compiler, wanted, schema, root, base)
            if check is not None:
                self.refuse_where(f"not {self.bound(check)}({value})")

    def _types(self, part: _Part) -> None:
        """Judge type and choice; what types are possible then."""
        wanted = part.take("type")
        if wanted is not None:
            part.kinds = frozenset([wanted] if isinstance(wanted, str) else wanted)
        choices = part.left.get("enum")
        if choices is not None and all(choice is None or isinstance(choice, str) for choice in choices):
            part.take("enum")
            part.kinds &= {"null" if choice is None else "string" for choice in choices}
            self.refuse_where(f"{part.value} not in {self.bound(_allowed(choices, part.kinds))}")
        elif wanted is not None:
            tests = [_TESTS[kind].format(part.value) for kind in sorted(part.kinds, key=list(_TESTS).index)]
            self.refuse_where(f"not ({' or '.join(tests)})")

    def _numbers(self, part: _Part) -> None:
        for keyword, sign in _BOUNDS.items():
            if keyword not in part.left:
                continue
            wanted = part.take(keyword)
            if part.kinds & {"integer", "number"}:
                # Written so, a number that is none (NaN) is refused, as `schema_quick` has it.
                self._refuse_of("number", part, f"not ({part.value} {sign} {self.bound(wanted)})")

    def _sized(self, part: _Part, keywords: Mapping[str, str], kind: str) -> None:
        for keyword, sign in keywords.items():
            if keyword not in part.left:
                continue
            wanted = part.take(keyword)
            if kind in part.kinds:
                self._refuse_of(kind, part, f"len({part.value}) {sign} {self.bound(wanted)}")

    def _refuse_of(self, kind: str, part: _Part, fails: str) -> None:
        """Refuse a value of a kind where a condition holds."""
        guard = part.only(kind)
        self.refuse_where(f"{guard} and {fails}" if guard else fails)

    def _items(self, part: _Part) -> None:
        if "items" not in part.left or "prefixItems" in part.schema:
            return
        wanted = part.take("items")
        if "array" not in part.kinds:
            return
        with self._where(part.only("array")):
            item = self.fresh()
            with self._block(f"for {item} in {part.value}:"):
                self.judge(wanted, item, part.root, part.base)

    def _object(self, part: _Part) -> None:
        """Judge properties, required keys, and that there are no others."""
        value, left = part.value, part.left
        closed = left.get("additionalProperties") is False and "patternProperties" not in part.schema
        properties = part.take("properties", {})
        required = list(dict.fromkeys(part.take("required", ())))
        if closed or left.get("additionalProperties") is True:
            part.take("additionalProperties")
        if "object" not in part.kinds or not (properties or required or closed):
            return
        with self._where(part.only("object")):
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
            for key, wanted in properties.items():
                own, name = self.fresh(), self.bound(key)
                if key in optional:
                    self.line(f"{own} = {value}.get({name}, missing)")
                    with self._block(f"if {own} is not missing:"):
                        if count:
                            self.line(f"{count} += 1")
                        self.judge(wanted, own, part.root, part.base)
                else:
                    self.line(f"{own} = {value}[{name}]")
                    self.judge(wanted, own, part.root, part.base)
            if closed:
                self.refuse_where(f"len({value}) != {count or known}")

    def _reference(self, ref: str, value: str, root: Mapping[str, Any], base: str) -> None:
        place = place_of(ref, base)
        if place in self._inside:  # it refers to itself
            self.refuse_where(f"not {self.bound(self.compiler.reference(ref, root, base))}({value})")
            return
        target, there, address = self.compiler.target(ref, root, base)
        self._inside.append(place)
        self.judge(target, value, there, address)
        self._inside.pop()

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        """Lines one step further in, below `head`."""
        self.line(head)
        begun = len(self.lines)
        self._indent += 1
        yield
        if len(self.lines) == begun:
            self.line("pass")
        self._indent -= 1

    def _where(self, guard: str) -> AbstractContextManager[None]:
        """Lines for where a condition holds; lines as they are where there is none."""
        return self._block(f"if {guard}:") if guard else nullcontext()


def _allowed(choices: Sequence[str | None], kinds: frozenset[str]) -> frozenset[str | None]:
    """The choices of the possible types."""
    return frozenset(choice for choice in choices if ("null" if choice is None else "string") in kinds)
