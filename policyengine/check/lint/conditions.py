"""Conditions as formulas over terms, and whether several can hold or fail together.

A formula keeps less than the condition says: what is no comparison of a term with a literal, or of two terms, may be
true or false at will. So `satisfy` may name an assignment that no input has, but when it finds none there is none. An
operand that fails to evaluate needs no third value: `&&` and `||` give a definite answer only where that answer is
the same whatever the failed operand had been.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policyengine.cel.environment import Environment
from policyengine.cel.errors import CelError
from policyengine.cel.interpreter import Interpreter
from policyengine.cel.program import Program
from policyengine.cel.syntax import (
    Binary,
    Call,
    Ident,
    Index,
    ListLit,
    Literal,
    Logic,
    Node,
    Select,
    Ternary,
    Unary,
    walk,
)
from policyengine.check.lint.cells import NOTHING, Domain, cells, holds
from policyengine.rules.programs import Programs
from policyengine.rules.table import Table

MAX_STEPS = 400_000
"""Nodes of formulas that the questions about one table may look at; beyond that they stay open."""

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NUMBERS = ("int", "uint", "double")


class UndecidedError(Exception):
    """The question is too large; nothing is said."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: its environment, and the derived values that it can see."""

    environment: Environment
    derived: frozenset[str]


@dataclass(slots=True, eq=False)
class Term:
    """Something that is compared. `path` leads to it in the input where it is part of it; `pair` are the two sides
    where it is how one term compares with another: -1, 0 or 1."""

    key: str
    domain: Domain
    path: tuple[str, ...] | None = None
    pair: tuple[Term, Term] | None = None
    literals: list[Any] = field(default_factory=list)
    cells: list[Any] = field(default_factory=list)

    def cut(self) -> list[Any]:
        """Its cells, once every literal is known."""
        if not self.cells:
            self.cells = cells(self.domain, self.literals)
        return self.cells


@dataclass(frozen=True, slots=True)
class Atom:
    """A comparison of a term."""

    term: Term
    operator: str
    literal: Any


@dataclass(frozen=True, slots=True)
class Join:
    """`and` or `or` of formulas."""

    all: bool
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a formula."""

    part: Formula


Formula = bool | Atom | Join | Not
Assignment = Mapping[Term, Any]


class Formulas:
    """The conditions of one table as formulas over shared terms."""

    def __init__(self, table: Table, programs: Programs) -> None:
        self._derived = programs.derived
        self.terms: dict[str, Term] = {}
        self._properties: Mapping[str, Any] = table.input_schema.get("properties", {})
        self._steps_left = MAX_STEPS
        # A derived value sees those above it only; its own name may still mean the input there.
        self._scopes: dict[int, frozenset[str]] = {}
        above: frozenset[str] = frozenset()
        for name, program in programs.derived.items():
            self._scopes[id(program.environment)] = above
            above |= {name}
        self._all = above
        self.conditions: dict[str, Formula] = {
            rule.id: True if condition is None else self.of(condition)
            for rule, condition in zip(table.rules, programs.conditions, strict=True)
        }

    def of(self, program: Program) -> Formula:
        """The formula of a condition."""
        if program.node is None:
            return self._free("unreadable " + program.text)
        return self._formula(program.node, self._scope(program))

    def satisfy(self, true: Iterable[Formula], false: Iterable[Formula] = ()) -> dict[Term, Any] | None:
        """An assignment that makes some formulas true and others false; None where there is none.

        Raises UndecidedError where the question is too large.
        """
        search = _Search([*true, *(Not(part) for part in false)], self._steps_left)
        try:
            return search.run()
        finally:
            self._steps_left = search.steps_left

    # Building

    def _scope(self, program: Program) -> Scope:
        environment = program.environment
        return Scope(environment, self._scopes.get(id(environment), self._all))

    def _formula(self, node: Node, scope: Scope) -> Formula:
        if isinstance(node, Unary) and node.op == "!":
            return Not(self._formula(node.operand, scope))
        if isinstance(node, Logic):
            return Join(node.op == "&&", tuple(self._formula(arg, scope) for arg in node.args))
        if isinstance(node, Ternary):
            condition = self._formula(node.condition, scope)
            yes = Join(True, (condition, self._formula(node.yes, scope)))
            no = Join(True, (Not(condition), self._formula(node.no, scope)))
            return Join(False, (yes, no))
        known, value = _constant(node, scope)
        if known:
            # `cooldown_ms > 0` over a constant is a switch that the policy offers, not a mistake while it is off.
            switch = any(isinstance(part, Ident) for part in walk(node))
            return value if isinstance(value, bool) and not switch else self._free(_key(node, scope))
        if isinstance(node, Ident) and node.role == "variable" and node.name in scope.derived:
            derived = self._derived[node.name]
            if derived.node is not None and derived.type.kind == "bool" and not derived.type.nullable:
                return self._formula(derived.node, self._scope(derived))
        if isinstance(node, Binary):
            return self._comparison(node, scope)
        if node.type.kind == "bool" and not node.type.nullable and (term := self._term(node, scope)):
            return self._atom(term, "==", True)
        return self._free(_key(node, scope))

    def _comparison(self, node: Binary, scope: Scope) -> Formula:
        if node.op == "in":
            known, values = _constant(node.right, scope)
            term = self._term(node.left, scope)
            if known and isinstance(values, list) and term is not None and _fits(term, values, "=="):
                return Join(False, tuple(self._atom(term, "==", value) for value in values))
            return self._free(_key(node, scope))
        if node.op not in _FLIPPED:
            return self._free(_key(node, scope))
        left, right, operator = node.left, node.right, node.op
        if _constant(left, scope)[0]:
            left, right, operator = right, left, _FLIPPED[operator]
        known, literal = _constant(right, scope)
        if known:
            left, literal = _shifted(left, literal, scope)
            term = self._term(left, scope)
            if term is not None and _fits(term, [literal], operator):
                return self._atom(term, operator, literal)
            if literal is None and operator == "!=":
                return Not(self._free(f"null == {_key(left, scope)}"))
            if literal is None and operator == "==":
                return self._free(f"null == {_key(left, scope)}")
            return self._free(_key(node, scope))
        if left.type.kind == right.type.kind == "bool" and operator in ("==", "!="):
            both = (self._formula(left, scope), self._formula(right, scope))
            same = Join(False, (Join(True, both), Join(True, (Not(both[0]), Not(both[1])))))
            return same if operator == "==" else Not(same)
        return self._pair(left, right, operator, scope) or self._free(_key(node, scope))

    def _pair(self, left: Node, right: Node, operator: str, scope: Scope) -> Formula | None:
        """A comparison of two terms: how they compare is a term of its own."""
        one, two = self._term(left, scope), self._term(right, scope)
        if one is None or two is None or one is two:
            return None
        numbers = one.domain.kind in _NUMBERS and two.domain.kind in _NUMBERS
        if not numbers and (one.domain.kind != two.domain.kind or operator not in ("==", "!=")):
            return None
        if one.key > two.key:
            one, two, operator = two, one, _FLIPPED[operator]
        key = f"{one.key} ? {two.key}"
        if key not in self.terms:
            loose = any(side.domain.nullable or side.domain.kind == "double" for side in (one, two))
            self.terms[key] = Term(key, Domain("order", loose, (-1, 0, 1)), pair=(one, two))
        return self._atom(self.terms[key], operator, 0)

    def _atom(self, term: Term, operator: str, literal: Any) -> Formula:
        if literal is None:
            if not term.domain.nullable:
                return operator == "!="
        else:
            term.literals.append(literal)
        return Atom(term, operator, literal)

    def _term(self, node: Node, scope: Scope) -> Term | None:
        kind = node.type.kind
        if kind not in (*_NUMBERS, "bool", "string"):
            return None
        key = _key(node, scope)
        if key not in self.terms:
            path = self._path(node, scope)
            schema = self._schema(path) if path else {}
            values = node.type.enum if kind == "string" else None
            domain = Domain(kind, node.type.nullable, values, *_bounds(schema, kind))
            self.terms[key] = Term(key, domain, path)
        return self.terms[key]

    def _free(self, key: str) -> Formula:
        name = f"free {key}"
        if name not in self.terms:
            self.terms[name] = Term(name, Domain("bool"))
        return Atom(self.terms[name], "==", True)

    def _path(self, node: Node, scope: Scope) -> tuple[str, ...] | None:
        steps: list[str] = []
        while isinstance(node, Select) and not node.test and not node.optional:
            steps.append(node.field)
            node = node.operand
        if not isinstance(node, Ident):
            return None
        if node.role == "input":
            return tuple(reversed(steps)) or None
        if node.role == "variable" and node.name not in scope.derived:
            return (node.name, *reversed(steps))
        return None

    def _schema(self, path: Sequence[str]) -> Mapping[str, Any]:
        properties = self._properties
        found: Any = {}
        for step in path:
            found = properties.get(step, {})
            if not isinstance(found, Mapping):
                return {}
            properties = found.get("properties", {})
        return found if isinstance(found, Mapping) else {}


def _conjuncts(part: Formula) -> list[Formula]:
    """Formulas that all hold where this one does, and only there."""
    if isinstance(part, Join) and part.all:
        return [piece for inner in part.parts for piece in _conjuncts(inner)]
    if isinstance(part, Not) and isinstance(part.part, Join) and not part.part.all:
        return [piece for inner in part.part.parts for piece in _conjuncts(Not(inner))]
    if isinstance(part, Not) and isinstance(part.part, Not):
        return _conjuncts(part.part.part)
    return [part]


class _Search:
    def __init__(self, parts: list[Formula], steps_left: int) -> None:
        self.parts = [piece for part in parts for piece in _conjuncts(part)]
        self.steps_left = steps_left
        self.chosen: dict[Term, Any] = {}

    def run(self) -> dict[Term, Any] | None:
        return dict(self.chosen) if self._solve(self.parts) else None

    def _solve(self, parts: list[Formula]) -> bool:
        """Whether cells can be chosen so that all parts hold; what holds already is not looked at again."""
        still_open: list[Formula] = []
        for part in parts:
            value = self._value(part)
            if value is False:
                return False
            if value is None:
                still_open.append(part)
        if not still_open:
            return True
        term = self._unchosen(still_open[0])
        for cell in term.cut():
            self.chosen[term] = cell
            if self._solve(still_open):
                return True
        self.chosen.pop(term, None)
        return False

    def _value(self, part: Formula) -> bool | None:
        """The value as far as the chosen cells tell it."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise UndecidedError
        if isinstance(part, bool):
            return part
        if isinstance(part, Atom):
            if part.term not in self.chosen:
                return None
            return holds(part.operator, self.chosen[part.term], part.literal)
        if isinstance(part, Not):
            value = self._value(part.part)
            return None if value is None else not value
        unknown = False
        for one in part.parts:
            value = self._value(one)
            if value is (not part.all):
                return value
            unknown = unknown or value is None
        return None if unknown else part.all

    def _unchosen(self, part: Formula) -> Term:
        stack = [part]
        while stack:
            current = stack.pop()
            if isinstance(current, Atom):
                if current.term not in self.chosen:
                    return current.term
            elif isinstance(current, Not):
                stack.append(current.part)
            elif isinstance(current, Join):
                stack.extend(reversed(current.parts))
        raise AssertionError("an open formula has an unchosen term")


# Reading nodes


def _constant(node: Node, scope: Scope) -> tuple[bool, Any]:
    for part in walk(node):
        if not isinstance(part, Literal | ListLit | Unary | Binary | Ident):
            return False, None
        if isinstance(part, Ident) and part.role != "constant":
            return False, None
    try:
        value = Interpreter(scope.environment, {}).run(node)
    except CelError:
        return False, None
    return isinstance(value, bool | int | float | str | list | type(None)), value


def _shifted(node: Node, literal: Any, scope: Scope) -> tuple[Node, Any]:
    """`x + 1 >= 3` is `x >= 2` over whole numbers."""
    while isinstance(node, Binary) and node.type.kind == "int" and type(literal) is int:
        sign = {"+": 1, "-": -1}.get(node.op)
        known, value = _constant(node.right, scope)
        rest = node.left
        if not known and sign == 1:
            known, value = _constant(node.left, scope)
            rest = node.right
        if sign is None or not known or type(value) is not int:
            break
        literal -= sign * value
        node = rest
    return node, literal


def _fits(term: Term, literals: Sequence[Any], operator: str) -> bool:
    kind = term.domain.kind
    for literal in literals:
        if literal is None:
            fits = operator in ("==", "!=")
        elif kind in _NUMBERS:
            fits = isinstance(literal, int | float) and not isinstance(literal, bool)
        elif kind == "string":
            fits = isinstance(literal, str) and operator in ("==", "!=")
        else:
            fits = isinstance(literal, bool) and operator in ("==", "!=")
        if not fits:
            return False
    return True


def _bounds(schema: Mapping[str, Any], kind: str) -> tuple[int | float | None, int | float | None]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if kind == "int":
        # Whole numbers have a next one, so an exclusive bound is an inclusive one.
        if "exclusiveMinimum" in schema:
            low = schema["exclusiveMinimum"] + 1
        if "exclusiveMaximum" in schema:
            high = schema["exclusiveMaximum"] - 1
    return low, high


def _key(node: Node, scope: Scope) -> str:
    """Text that is the same for two nodes only where they always have the same value."""
    if isinstance(node, Literal):
        return f"{type(node.value).__name__}:{node.value!r}"
    if isinstance(node, Ident):
        hidden = node.role == "variable" and node.name in scope.derived
        role = "derived" if hidden else "input" if node.role in ("variable", "input") else node.role
        return f"{role}.{node.name}" if node.role != "input" else "input"
    name = type(node).__name__
    extra: tuple[Any, ...] = ()
    if isinstance(node, Select):
        if not node.test and not node.optional and isinstance(node.operand, Ident) and node.operand.role == "input":
            return f"input.{node.field}"
        extra = (node.field, node.test, node.optional)
    elif isinstance(node, Call):
        extra = (node.name, node.target is not None)
    elif isinstance(node, (Unary, Binary, Logic)):
        extra = (node.op,)
    elif isinstance(node, Index):
        extra = (node.optional,)
    else:
        # Comprehensions, bindings, lists and maps: everything they hold besides their children.
        slots = (slot for slot in type(node).__slots__ if not isinstance(getattr(node, slot), Node | list))
        extra = tuple((slot, repr(getattr(node, slot))) for slot in slots)
    inner = ", ".join(_key(child, scope) for child in node.children())
    return f"{name}{extra}({inner})"


def inputs_of(assignment: Assignment) -> dict[tuple[str, ...], Any]:
    """The values that an assignment gives to parts of the input, by path."""
    found: dict[tuple[str, ...], Any] = {}
    for term, value in assignment.items():
        if term.path is not None:
            found[term.path] = None if value is NOTHING else value
    for term, value in assignment.items():
        if term.pair is None or value is NOTHING:
            continue
        first, second = term.pair
        if first.path is None or second.path is None or first.domain.kind == "string":
            continue
        if first.path in found:
            found[second.path] = (found[first.path] or 0) - value
        else:
            found[first.path] = (found.get(second.path) or 0) + value
            found.setdefault(second.path, 0)
    return found
