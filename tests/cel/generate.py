"""Hypothesis strategies: well-typed expressions, and inputs for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "i": {"type": "integer"},
        "j": {"type": "integer"},
        "d": {"type": "number"},
        "s": {"type": "string"},
        "t": {"type": "string", "enum": ["read", "edit", "other"]},
        "b": {"type": "boolean"},
        "n": {"type": ["integer", "null"]},
        "li": {"type": "array", "items": {"type": "integer"}, "maxItems": 20},
        "ls": {"type": "array", "items": {"type": "string"}},
        "calls": {
            "type": "array",
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string"},
                    "error": {"type": "boolean"},
                    "size": {"type": "integer"},
                    "note": {"type": "string"},
                },
                "required": ["kind", "error", "size"],
            },
        },
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "x": {},
        "maybe": {"type": "integer"},
    },
    "required": ["i", "j", "d", "s", "t", "b", "n", "li", "ls", "calls", "m", "x"],
}

_ints = st.one_of(st.integers(-5, 20), st.sampled_from([2**63 - 1, -(2**63), 2**53 + 1]))
_doubles = st.one_of(st.integers(-4, 9).map(float), st.sampled_from([0.5, -2.25, 1e300]))
_strings = st.sampled_from(["", "a", "read", "edit", "fix the tests", "Add a file", "改一下", "é", "a.b", "🐱 cat"])
_call = st.fixed_dictionaries({"kind": _strings, "error": st.booleans(), "size": _ints}, optional={"note": _strings})
_anything = st.one_of(st.none(), st.booleans(), _ints, _doubles, _strings, st.lists(_ints, max_size=3))
PROPERTIES: dict[str, st.SearchStrategy[Any]] = {
    "i": _ints,
    "j": _ints,
    "d": st.one_of(_doubles, st.integers(-3, 3)),
    "s": _strings,
    "t": st.sampled_from(["read", "edit", "other"]),
    "b": st.booleans(),
    "n": st.one_of(st.none(), _ints),
    "li": st.lists(_ints, max_size=4),
    "ls": st.lists(_strings, max_size=4),
    "calls": st.lists(_call, max_size=3),
    "m": st.dictionaries(_strings, _ints, max_size=3),
    "x": _anything,
}
INPUTS = st.fixed_dictionaries(PROPERTIES, optional={"maybe": _ints})
"""Inputs that fit the schema."""

_WRONG = st.one_of(_anything, st.just({}), st.just([None]), st.just([True]), st.just([{"kind": 3, "error": 1}]))


@st.composite
def broken_inputs(draw: st.DrawFn) -> Any:
    """Inputs that may not fit: a property is missing, or of another type."""
    value = dict(draw(INPUTS))
    for name in draw(st.lists(st.sampled_from(sorted(SCHEMA["properties"])), min_size=1, max_size=3)):
        if draw(st.booleans()):
            value.pop(name, None)
        else:
            value[name] = draw(_WRONG)
    return value


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Grammar:
    """Draws expressions of a wanted type. `extensions` adds what cel-python lacks."""

    def __init__(self, draw: st.DrawFn, extensions: bool) -> None:
        self.draw = draw
        self.extensions = extensions
        self.local: list[tuple[str, str]] = []

    def one(self, *choices: Callable[[], str]) -> str:
        return self.draw(st.sampled_from(choices))()

    def expression(self, kind: str, depth: int) -> str:
        leaves = [lambda: self.leaf(kind)]
        if depth <= 0:
            return self.one(*leaves)
        inner = getattr(self, f"_{kind}")(depth - 1)
        cond = [
            lambda: (
                f"({self.expression('bool', depth - 1)} ? {self.expression(kind, depth - 1)}"
                f" : {self.expression(kind, depth - 1)})"
            )
        ]
        return self.one(*leaves, *inner, *inner, *cond)

    def leaf(self, kind: str) -> str:
        names = {
            "int": ["i", "j", "li.size()", "size(ls)", "size(s)", "n", 'm["a"]'],
            "double": ["d", "double(i)"],
            "string": ["s", "t"],
            "bool": ["b", "b", "has(m.a)", "n == null"],
            "ints": ["li"],
            "strings": ["ls"],
            "calls": ["calls"],
            "any": ["x", "dyn(i)", "dyn(s)"],
        }[kind]
        names = [*names, *(name for name, own in self.local if own == kind)]
        if kind == "string":
            names += [f"{name}.kind" for name, own in self.local if own == "call"]
        if kind == "bool":
            names += [f"{name}.error" for name, own in self.local if own == "call"]
            names += [f"has({name}.note)" for name, own in self.local if own == "call"]
        if kind == "int":
            names += [f"{name}.size" for name, own in self.local if own == "call"]
            if self.extensions:
                names += ["(has(input.maybe) ? input.maybe : 0)", "maybe"]
        literals = {
            "int": lambda: str(self.draw(_ints)),
            "double": lambda: repr(self.draw(_doubles)),
            "string": lambda: _quoted(self.draw(_strings)),
            "bool": lambda: self.draw(st.sampled_from(["true", "false"])),
            "ints": lambda: f"[{', '.join(map(str, self.draw(st.lists(_ints, max_size=3))))}]",
            "strings": lambda: f"[{', '.join(map(_quoted, self.draw(st.lists(_strings, min_size=1, max_size=3))))}]",
        }
        choice = self.draw(st.integers(0, len(names)))
        if choice == len(names) and kind in literals:
            return literals[kind]()
        return names[min(choice, len(names) - 1)]

    def infix(self, kind: str, ops: list[str], depth: int) -> str:
        left, right = self.expression(kind, depth), self.expression(kind, depth)
        return f"({left} {self.draw(st.sampled_from(ops))} {right})"

    def _int(self, depth: int) -> list[Callable[[], str]]:
        found = [
            lambda: self.infix("int", ["+", "-", "*", "/", "%"], depth),
            lambda: f"(-({self.expression('int', depth)}))",
            lambda: f"{self.expression('ints', depth)}[{self.expression('int', depth)}]",
            lambda: f"size({self.expression('string', depth)})",
            lambda: f"{self.expression('strings', depth)}.size()",
            lambda: f"int({self.expression('double', depth)})",
        ]
        if self.extensions:
            found.append(lambda: f"math.greatest({self.expression('int', depth)}, {self.expression('int', depth)})")
            found.append(lambda: f"estimate_tokens({self.expression('string', depth)}, 4)")
        return found

    def _double(self, depth: int) -> list[Callable[[], str]]:
        return [
            lambda: self.infix("double", ["+", "-", "*", "/"], depth),
            lambda: f"double({self.expression('int', depth)})",
            lambda: f"(-({self.expression('double', depth)}))",
        ]

    def _string(self, depth: int) -> list[Callable[[], str]]:
        found = [
            lambda: f"({self.expression('string', depth)} + {self.expression('string', depth)})",
            lambda: f"string({self.expression('int', depth)})",
            lambda: f"{self.expression('strings', depth)}[0]",
        ]
        if self.extensions:
            found += [
                lambda: f"{self.expression('string', depth)}.lowerAscii()",
                lambda: f"fingerprint({self.expression('any', depth)})",
                lambda: f'{self.expression("strings", depth)}.join(",")',
            ]
        return found

    def _bool(self, depth: int) -> list[Callable[[], str]]:
        found = [
            lambda: self.infix("bool", ["&&", "||", "==", "!="], depth),
            lambda: self.infix("bool", ["&&", "||"], depth),
            lambda: f"!({self.expression('bool', depth)})",
            lambda: self.infix("int", ["<", "<=", ">", ">=", "==", "!="], depth),
            lambda: self.infix("double", ["<", "<=", ">", ">=", "==", "!="], depth),
            lambda: self.infix("string", ["<", "<=", ">", ">=", "==", "!="], depth),
            lambda: self.infix("ints", ["==", "!="], depth),
            lambda: self.infix("any", ["==", "!="], depth),
            lambda: f"({self.expression('int', depth)} in {self.expression('ints', depth)})",
            lambda: f"({self.expression('string', depth)} in {self.expression('strings', depth)})",
            lambda: f"({self.expression('string', depth)} in m)",
            lambda: f"{self.expression('string', depth)}.contains({self.expression('string', depth)})",
            lambda: f"{self.expression('string', depth)}.startsWith({self.expression('string', depth)})",
            lambda: f'{self.expression("string", depth)}.matches("[a-e]+")',
            lambda: self.walk("ints", "int", ["all", "exists", "exists_one"], depth),
            lambda: self.walk("strings", "string", ["all", "exists", "exists_one"], depth),
            lambda: self.walk("calls", "call", ["all", "exists", "exists_one"], depth),
        ]
        if self.extensions:
            found += [
                lambda: "s.mentions(words.action)",
                lambda: "s.mentions(words.reason)",
                lambda: f"{self.expression('string', depth)}.mentions(words.action)",
                lambda: f"cel.bind(bound, {self.expression('int', depth)}, {self.bound(depth)})",
                lambda: f"{self.expression('ints', depth)}.exists(at, item, at == item)",
                lambda: f"m.all(key, key in {self.expression('strings', depth)})",
                lambda: "(has(input.maybe) && maybe > 0)",
            ]
        return found

    def bound(self, depth: int) -> str:
        self.local.append(("bound", "int"))
        try:
            return self.expression("bool", depth)
        finally:
            self.local.pop()

    def walk(self, over: str, item: str, kinds: list[str], depth: int) -> str:
        target = self.expression(over, depth)
        name = f"v{len(self.local)}"
        self.local.append((name, item))
        try:
            body = self.expression("bool", depth)
        finally:
            self.local.pop()
        return f"{target}.{self.draw(st.sampled_from(kinds))}({name}, {body})"

    def _ints(self, depth: int) -> list[Callable[[], str]]:
        def mapped() -> str:
            target, name = self.expression("ints", depth), f"v{len(self.local)}"
            self.local.append((name, "int"))
            try:
                return f"{target}.map({name}, {self.expression('int', depth)})"
            finally:
                self.local.pop()

        return [
            lambda: f"({self.expression('ints', depth)} + {self.expression('ints', depth)})",
            lambda: self.walk("ints", "int", ["filter"], depth),
            mapped,
        ]

    def _strings(self, depth: int) -> list[Callable[[], str]]:
        return [
            lambda: f"[{self.expression('string', depth)}, {self.expression('string', depth)}]",
            lambda: self.walk("strings", "string", ["filter"], depth),
        ]

    def _calls(self, depth: int) -> list[Callable[[], str]]:
        return [lambda: self.walk("calls", "call", ["filter"], depth)]

    def _any(self, depth: int) -> list[Callable[[], str]]:
        return [
            lambda: f"dyn({self.expression('int', depth)})",
            lambda: f"dyn({self.expression('double', depth)})",
            lambda: f"dyn({self.expression('bool', depth)})",
            lambda: f"dyn({self.expression('ints', depth)})",
        ]


KINDS = ("bool", "int", "double", "string", "ints", "strings", "any")


@st.composite
def expressions(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, extensions: bool = True, depth: int = 3) -> str:
    """Well-typed expressions over `SCHEMA`."""
    return Grammar(draw, extensions).expression(draw(st.sampled_from(kinds)), draw(st.integers(1, depth)))
