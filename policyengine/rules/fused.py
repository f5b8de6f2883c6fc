"""A whole table as one Python function.

The function reads each property of the input once, tests the rules in order and returns an outcome that was made
beforehand. It knows no errors: on any exception the caller decides again with `decide_exactly`.

Reading early is safe for the same reason. A property that a rule reads only sometimes is read before the rule; if
it does not fit its type, the function gives up, and the exact run judges whether it was looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from policyengine.cel import support
from policyengine.cel.codegen import Generator
from policyengine.cel.errors import CelError
from policyengine.cel.limits import MAX_INT, MIN_INT
from policyengine.cel.program import Program
from policyengine.cel.pytree import Code, assigned, compare, is_type, name_of
from policyengine.cel.regex import pattern_search
from policyengine.cel.scanning import pattern_scanner, word_scanner
from policyengine.cel.statics import checker_of
from policyengine.cel.syntax import Call, Ident, Literal, Words, walk
from policyengine.cel.types import Type
from policyengine.rules.programs import Programs, Result

MISSING = object()
"""Stands for a property that the input lacks, or a value that was not worked out yet."""


@dataclass(frozen=True, slots=True)
class Scans:
    """The word lists and patterns that a table looks for, by the string variable that it looks in."""

    words: Mapping[str, Sequence[str]]
    patterns: Mapping[str, Sequence[str]]


def scans_of(programs: Programs) -> Scans:
    """What a table looks for, in the order in which its rules do."""
    words: dict[str, dict[str, None]] = {}
    patterns: dict[str, dict[str, None]] = {}
    for program in programs.everything():
        if program.node is None or not ("mentions" in program.text or "matches" in program.text):
            continue
        for node in walk(program.node):
            parts = node.children()
            if not isinstance(node, Call) or len(parts) != 2 or not isinstance(parts[0], Ident):
                continue
            what = parts[1]
            if node.name == "mentions" and isinstance(what, Words) and what.name in programs.environment.words:
                words.setdefault(parts[0].name, {})[what.name] = None
            elif node.name == "matches" and isinstance(what, Literal) and _compiles(what.value):
                patterns.setdefault(parts[0].name, {})[what.value] = None
    return Scans(
        {name: tuple(found) for name, found in words.items()},
        {name: tuple(found) for name, found in patterns.items()},
    )


def _compiles(pattern: Any) -> bool:
    try:
        pattern_search(pattern)
    except (CelError, TypeError):
        return False
    return True


class Frame:
    """The variables of one function: which were read, which are worked out when first needed."""

    def __init__(self, programs: Programs, scans: Scans) -> None:
        self.programs = programs
        self.scans = scans
        self.code = Code()
        self.generator = Generator(programs.environment, self, self.code)
        self.first: list[ast.stmt] = []
        """Statements at the function's beginning."""
        self.before: list[ast.stmt] = []
        """Statements that the expression just written needs before it."""
        self.known: dict[tuple[str, str], str] = {}
        self.ready: set[tuple[str, str]] = set()
        self.tried: set[tuple[str, str]] = set()
        whole = programs.environment.input
        self.optional = {name for name, part in ((whole.fields or {}) if whole else {}).items() if not part.required}

    def take(self) -> list[ast.stmt]:
        """The statements collected since the last call."""
        taken, self.before = self.before, []
        return taken

    def write(self, program: Program, condition: bool = False, observe: str | None = None) -> ast.expr:
        """The code of a program. One that cannot be read gives code that gives up."""
        if program.node is None:
            return self.code.call(support.unusual)
        return self.generator.expression(program.node, program.text, observe=observe, condition=condition)

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Code that runs only sometimes: what it reads or works out is not known after it."""
        before = dict(self.known), set(self.ready), set(self.tried)
        try:
            yield
        finally:
            self.known, self.ready, self.tried = before

    # what codegen.Names asks for

    def derived(self) -> frozenset[str]:
        """The names of derived values."""
        return frozenset(self.programs.derived)

    def whole(self) -> ast.expr:
        """The whole input."""
        return name_of("input")

    def variable(self, name: str, sure: bool, nested: bool) -> ast.expr:
        """A property of the input, or a derived value."""
        if name in self.programs.derived:
            program = self.programs.derived[name]

            def build(needed: bool) -> ast.expr:
                if program.node is None:
                    return self.code.call(support.unusual)
                return self.generator.expression(program.node, program.text, sure=needed)

            return self.lazy(("derived", name), build, sure, nested)
        own = self.read(name)
        if name not in self.optional:
            return name_of(own)
        there = compare(name_of(own), ast.IsNot(), self.code.shared(MISSING, "missing"))
        return ast.IfExp(there, name_of(own), self.code.call(support.unusual))

    def present(self, name: str) -> ast.expr:
        """Whether the input has a property."""
        if name in self.optional:
            return compare(name_of(self.read(name)), ast.IsNot(), self.code.shared(MISSING, "missing"))
        return compare(ast.Constant(name), ast.In(), name_of("input"))

    def mentions(self, variable: str, words: str, sure: bool, nested: bool) -> ast.expr | None:
        """Whether a variable mentions a word list: its number is among those found in one scan for all lists."""
        lists = self.scans.words.get(variable, ())
        if words not in lists:
            return None
        matchers = [self.programs.environment.matcher(name) for name in lists]
        return self.found(("words", variable), lists.index(words), lambda: word_scanner(matchers), sure, nested)

    def matches(self, variable: str, pattern: str, sure: bool, nested: bool) -> ast.expr | None:
        """Whether a variable matches a pattern, told by one scan for all patterns."""
        patterns = self.scans.patterns.get(variable, ())
        if pattern not in patterns:
            return None
        at = patterns.index(pattern)
        return self.found(("patterns", variable), at, lambda: pattern_scanner(patterns), sure, nested)

    def found(
        self,
        key: tuple[str, str],
        number: int,
        scanner: Callable[[], Callable[[str], Any]],
        sure: bool,
        nested: bool,
    ) -> ast.expr:
        """Whether a scan of a variable found the list or pattern of that number."""

        def build(needed: bool) -> ast.expr:
            text = self.variable(key[1], needed, nested)
            name = f"scan_{key[0]}_{key[1]}".replace(".", "_")
            self.code.globals.setdefault(name, None)
            if self.code.globals[name] is None:
                self.code.globals[name] = scanner()
            return ast.Call(name_of(name), [text], [])

        return compare(ast.Constant(number), ast.In(), self.lazy(key, build, sure, nested))

    # reading and working out

    def lazy(self, key: tuple[str, str], build: Callable[[bool], ast.expr], sure: bool, nested: bool) -> ast.expr:
        """A value worked out at most once: here and now where it is needed anyway, else when it is first asked for."""
        missing = self.code.shared(MISSING, "missing")
        own = self.known.get(key)
        if own is not None and key in self.ready:
            return name_of(own)
        begun = own is not None
        if own is None:
            own = self.known[key] = self.code.fresh("d")
        there = compare(name_of(own), ast.IsNot(), missing)
        if key in self.tried and not sure:
            return ast.IfExp(there, name_of(own), self.code.call(support.unusual))
        if not begun and not sure:
            self.first.append(assign(own, missing))
        if sure:
            value = build(True)
            self.before.append(assign(own, ast.IfExp(there, name_of(own), value) if begun else value))
            self.ready.add(key)
            return name_of(own)
        if not begun and not nested:
            return ast.IfExp(there, name_of(own), assigned(own, build(False)))
        # Asked for a second time, or from a scope of its own: try it beforehand, so that its code is not written
        # again and again. It may fail where nobody would have asked.
        attempt = assign(own, build(False))
        inner, self.before = self.before, []
        give_up = ast.ExceptHandler(name_of("Exception"), None, [ast.Pass()])
        self.before = [*inner, ast.If(ast.UnaryOp(ast.Not(), there), [ast.Try([attempt], [give_up], [], [])], [])]
        self.tried.add(key)
        return ast.IfExp(there, name_of(own), self.code.call(support.unusual))

    def read(self, name: str) -> str:
        """The Python variable of a property, read before the current expression unless it was already."""
        key = ("input", name)
        if key in self.known:
            return self.known[key]
        own = self.known[key] = self.code.fresh("i")
        kind = self.programs.environment.variables[name]
        target = ast.Name(own, ast.Store())
        if name in self.optional:
            get = ast.Attribute(name_of("input"), "get", ast.Load())
            missing = self.code.shared(MISSING, "missing")
            self.before.append(ast.Assign([target], ast.Call(get, [ast.Constant(name), missing], [])))
            there = compare(name_of(own), ast.IsNot(), missing)
            checks = self.checks(own, kind)
            if checks:
                self.before.append(ast.If(there, checks, []))
        else:
            value = ast.Subscript(name_of("input"), ast.Constant(name), ast.Load())
            self.before.append(ast.Assign([target], value))
            self.before += self.checks(own, kind)
        return own

    def checks(self, own: str, kind: Type) -> list[ast.stmt]:
        """Statements that give up unless a variable is of its declared type."""
        value = name_of(own)
        wrong: ast.expr | None = None
        if kind.kind == "string":
            wrong = compare(_type(value), ast.IsNot(), name_of("str"))
        elif kind.kind == "bool":
            wrong = compare(_type(value), ast.IsNot(), self.code.shared(bool, "bool"))
        elif kind.kind in ("object", "map"):
            wrong = compare(_type(value), ast.IsNot(), name_of("dict"))
        elif kind.kind == "int":
            fits = ast.Compare(ast.Constant(MIN_INT), [ast.LtE(), ast.LtE()], [value, ast.Constant(MAX_INT)])
            wrong = ast.UnaryOp(ast.Not(), ast.BoolOp(ast.And(), [is_type(value, "int"), fits]))
        if wrong is not None:
            if kind.nullable:
                present = compare(value, ast.IsNot(), ast.Constant(None))
                wrong = ast.BoolOp(ast.And(), [present, wrong])
            return [ast.If(wrong, [self.give_up()], [])]
        check = checker_of(kind)
        if check is None:
            return []
        return [ast.Assign([ast.Name(own, ast.Store())], self.code.call(check, value))]

    def give_up(self) -> ast.stmt:
        """Leave the function; the exact run will decide."""
        return ast.Raise(self.code.shared(support.Unusual, "unusual"))

    # outcomes

    def outcome(self, result: Result) -> ast.expr:
        """The fields of a result, made beforehand where nothing has to be computed."""
        programs = {**result.computed, **self.programs.outputs}
        if not programs:
            return self.code.shared(result.literals, "outcome")
        return self.fields(result.literals, programs)

    def own_fields(self, result: Result) -> ast.expr:
        """The fields of a result without those that every outcome has."""
        if not result.computed:
            return self.code.shared(result.literals, "outcome")
        return self.fields(result.literals, result.computed)

    def fields(self, literals: Mapping[str, Any], programs: Mapping[str, Program]) -> ast.expr:
        """A dict of fields that are known and fields to compute."""
        entries = {name: self.code.constant(value) for name, value in literals.items()}
        entries |= {name: self.write(program) for name, program in programs.items()}
        return ast.Dict([ast.Constant(name) for name in entries], list(entries.values()))

    def function(self, name: str, body: list[ast.stmt], otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function `name(input)` with that body; on any exception it returns `otherwise(input)`."""
        self.code.globals["Exception"] = Exception
        fallback = ast.Return(self.code.call(otherwise, name_of("input")))
        handler = ast.ExceptHandler(name_of("Exception"), None, [fallback])
        guarded = ast.Try([*self.first, *body], [handler], [], [])
        args = ast.arguments([], [ast.arg("input")], None, [], [], None, [])
        return self.code.define(ast.FunctionDef(name, args, [guarded], [], None))


def assign(name: str, value: ast.expr) -> ast.stmt:
    """`name = value`."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def append(name: str, value: ast.expr) -> ast.stmt:
    """`name.append(value)`."""
    return ast.Expr(ast.Call(ast.Attribute(name_of(name), "append", ast.Load()), [value], []))


def _type(value: ast.expr) -> ast.expr:
    return ast.Call(name_of("type"), [value], [])
