"""Values of expressions as terms of the solver: each with when it is null and when it is an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from policyengine.check.proofs.numbers import exact
from policyengine.check.proofs.solver import Term, both, choose, either, no, z3

NOT_KNOWN: Any = object()
"""`Symbol.constant` of a value that depends on the input."""

SCALARS = frozenset(("bool", "int", "double", "string", "null"))


class Shape:
    """What is known of a value without a type: whether it is a map (`map`), and what stands at a key of it.

    `path` names its terms, so that two expressions that reach one part of the input mean the same.
    """

    def __init__(self, path: str, map: Term) -> None:
        self.path, self.map = path, map
        self._parts: dict[str, tuple[Term, Symbol]] = {}

    def at(self, key: str) -> tuple[Term, Symbol]:
        """Whether the key is there, if this is a map, and its value."""
        if key not in self._parts:
            path = f"{self.path}[{json.dumps(key)}]"
            self._parts[key] = (z3().Bool(f"{path}?"), Symbol("unknown", shape=Shape(path, z3().Bool(f"{path}?map"))))
        return self._parts[key]


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A value. `kind` is bool, int, double, string, null, list, object or unknown.

    A string's term is a number that stands for it (see `Texts`). `items` of a list are pairs of whether the item is
    there and what it is; `exact` lists are as long as they look, others stand for lists of any length up to a bound
    (see `arrays`), and `size` is that length. `fields` of an object likewise. A part of the input without a type is
    unknown and has a `shape`.
    """

    kind: str
    term: Term = None
    null: Term = False
    error: Term = False
    constant: Any = NOT_KNOWN
    items: tuple[tuple[Term, Symbol], ...] = ()
    exact: bool = True
    size: Term = 0
    fields: Mapping[str, tuple[Term, Symbol]] = field(default_factory=dict)
    shape: Shape | None = None

    @property
    def is_map(self) -> Term:
        """Whether this part of the input is a map; only where it has a shape."""
        return both(no(self.null), self.shape.map) if self.shape is not None else False

    def failing(self, when: Term) -> Symbol:
        """The same value, an error also where `when` holds."""
        return self if when is False else replace(self, error=either(self.error, when), constant=NOT_KNOWN)


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """A function of one text that the solver knows nothing about: `prompt.mentions(words.action)` and the like."""

    label: str
    term: Any
    failing: Any
    evaluate: Callable[[str], Any]
    """The engine's own answer for one text; raises CelError."""
    result: str


class Texts:
    """Texts as numbers: equal texts have equal numbers; nothing else about a text is known to the solver."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.predicates: dict[str, Predicate] = {}

    def number(self, text: str) -> int:
        """The number that stands for a text."""
        return self.numbers.setdefault(text, len(self.numbers))

    def text(self, number: int) -> str | None:
        """The text that a number stands for, None where it stands for any other text."""
        return next((text for text, known in self.numbers.items() if known == number), None)


def literal(value: Any, texts: Texts) -> Symbol:
    """A plain value."""
    if value is None:
        return Symbol("null", null=True, constant=None)
    if isinstance(value, bool):
        return Symbol("bool", value, constant=value)
    if type(value) is int:
        return Symbol("int", z3().IntVal(value), constant=value)
    if type(value) is float:
        return Symbol("double", real(exact(value)), constant=value) if value - value == 0 else Symbol("unknown")
    if type(value) is str:
        return Symbol("string", z3().IntVal(texts.number(value)), constant=value)
    if isinstance(value, (list, tuple)):
        items = tuple((True, literal(item, texts)) for item in value)
        return Symbol("list", items=items, size=z3().IntVal(len(items)), constant=list(value))
    if isinstance(value, Mapping):
        fields = {name: (True, literal(item, texts)) for name, item in value.items()}
        return Symbol("object", fields=fields, constant=dict(value))
    return Symbol("unknown")


def real(value: Fraction) -> Term:
    """A rational number as a term."""
    return z3().Q(value.numerator, value.denominator)


def merged(test: Term, yes: Symbol, other: Symbol) -> Symbol:
    """`yes` where the test holds, else `other`. Two kinds that have nothing in common make an unknown."""
    if isinstance(test, bool):
        return yes if test else other
    error = choose(test, yes.error, other.error)
    null = choose(test, yes.null, other.null)
    if yes.kind == "null" or other.kind == "null":
        rest = other if yes.kind == "null" else yes
        return replace(rest, null=null, error=error, constant=NOT_KNOWN)
    if yes.kind != other.kind:
        return Symbol("unknown", error=error)
    if yes.kind in SCALARS:
        return Symbol(yes.kind, choose(test, yes.term, other.term), null, error)
    if yes.kind == "object" and yes.fields.keys() == other.fields.keys():
        fields = {
            name: (choose(test, there, other.fields[name][0]), merged(test, value, other.fields[name][1]))
            for name, (there, value) in yes.fields.items()
        }
        return Symbol("object", null=null, error=error, fields=fields)
    return Symbol("unknown", error=error)
