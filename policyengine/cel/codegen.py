"""A typed tree to a Python expression.

The code does what is usual and raises on anything else: a value of another type, a missing key, an overflow, a
division by zero, a list beyond its bound. Whoever runs it catches that and evaluates again with the interpreter, which
knows what an error means. So `a && b` is Python's `a and b`: where neither raises, both say the same.

That is sound because static types are guaranteed: values from outside are looked at where they are read (`guard`), and
an operation is written natively only where the types of its operands leave nothing to Python's discretion (True == 1).
No text of a policy is ever evaluated: the result is a tree of `ast`, whose constants are values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policyengine.cel import operators, support
from policyengine.cel.cost import bound_of
from policyengine.cel.environment import TYPE_NAMES, Environment
from policyengine.cel.interpreter import interpret, is_leaf
from policyengine.cel.library.overloads import Overload
from policyengine.cel.library.registry import call
from policyengine.cel.limits import MAX_INT, MIN_INT, RUN_BUDGET
from policyengine.cel.naming import Names
from policyengine.cel.pytree import Code, assigned, compare, is_type, name_of
from policyengine.cel.statics import SCALARS, checker_of, exact, fits, light, unlooked
from policyengine.cel.syntax import (
    Binary,
    Bind,
    Call,
    Comprehension,
    Ident,
    Index,
    ListLit,
    Literal,
    Logic,
    MapLit,
    Node,
    Select,
    Ternary,
    Unary,
    Words,
    walk,
)
from policyengine.cel.types import Type

_COMPARE: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
_ARITHMETIC: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div}
_CONSTANT_TIME = frozenset(("size", "dyn", "type"))
_SIZED = frozenset(("string", "bytes", "list", "map", "dyn", "object"))


class Unsupported(Exception):
    """There is no compiled form of this; the interpreter has to run it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a piece of code stands.

    `local` maps the variables of comprehensions around it to their Python names, `depth` counts those comprehensions.
    `sure`: it is reached whenever the expression is. `nested`: it has a scope of its own, so that it may not assign
    what outer code reads. `walrus`: it may assign at all (the target of a comprehension may not).
    """

    local: Mapping[str, str]
    depth: int = 0
    sure: bool = True
    nested: bool = False
    walrus: bool = True

    def unsure(self) -> _Place:
        """The same place, reached only sometimes."""
        return replace(self, sure=False) if self.sure else self


class Generator:
    """Compiles the expressions of one function.

    With `observe`, a leaf is written as `observe(text, value)`, a call that notes the value and gives it back.
    """

    def __init__(self, environment: Environment, names: Names, code: Code) -> None:
        self.environment = environment
        self.names = names
        self.code = code
        self.text = ""
        self.observe: str | None = None
        self.parts = 1
        for builtin in (type, str, int, float, list, dict, len, any, all):
            code.globals[builtin.__name__] = builtin

    def expression(
        self, node: Node, text: str, *, observe: str | None = None, condition: bool = False, sure: bool = True
    ) -> ast.expr:
        """The code of an expression, with `condition` of one that must be a bool.

        `sure` tells whether its value is needed wherever it is written. One expression may be asked for while
        another is being written (a derived value).
        """
        before = self.text, self.observe, self.parts
        self.text, self.observe = text, observe
        self.parts = sum(1 for _ in walk(node))
        try:
            place = _Place({}, sure=sure)
            return self._boolean(node, place) if condition else self._value(node, place)
        finally:
            self.text, self.observe, self.parts = before

    def _value(self, node: Node, place: _Place) -> ast.expr:
        if self.observe is None or not is_leaf(node):
            return self._plain(node, place)
        observe, self.observe = self.observe, None
        try:
            inner = self._plain(node, place)
        finally:
            self.observe = observe
        key = ast.Constant(self.text[node.offset : node.end])
        return ast.Call(name_of(observe), [key, inner], [])

    def _plain(self, node: Node, place: _Place) -> ast.expr:
        try:
            return _HANDLERS[type(node)](self, node, place)
        except Unsupported:
            if place.depth:  # within a walk the interpreter must run the whole of it, on one budget
                raise
            return self._interpreted(node, place)

    def _interpreted(self, node: Node, place: _Place) -> ast.expr:
        """A call of the interpreter, for what is rare: two variables, walks over maps or unknown values, optionals."""
        derived = self.names.derived()
        used = {part.name for part in walk(node) if isinstance(part, Ident) and part.role == "variable"}
        extra = {name: self.names.variable(name, place.sure, True) for name in sorted(used & derived)}
        local = {name: name_of(own) for name, own in place.local.items()}
        return self.code.call(
            interpret,
            self.code.shared(self.environment, "environment"),
            self.code.shared(node, "node"),
            self.names.whole(),
            _dict_of(extra),
            _dict_of(local),
        )

    def _boolean(self, node: Node, place: _Place) -> ast.expr:
        code = self._value(node, place)
        return code if node.type.kind == "bool" and exact(node.type) else self.code.call(operators.truth, code)

    # values from outside

    def _guard(self, value: ast.expr, kind: Type, place: _Place) -> ast.expr:
        """The value, looked at: it raises unless it is of the type."""
        check = checker_of(kind)
        if check is None:
            return value
        if not place.walrus or kind.nullable or kind.kind not in ("string", "bool"):
            return self.code.call(check, value)
        temp = self.code.fresh()
        if kind.kind == "bool":
            true = compare(assigned(temp, value), ast.Is(), ast.Constant(True))
            false = compare(name_of(temp), ast.Is(), ast.Constant(False))
            test: ast.expr = ast.BoolOp(ast.Or(), [true, false])
        else:
            test = is_type(assigned(temp, value), "str")
        return ast.IfExp(test, name_of(temp), self.code.call(support.unusual))

    # leaves

    def _literal(self, node: Literal, _place: _Place) -> ast.expr:
        return self.code.constant(node.value)

    def _words(self, node: Words, _place: _Place) -> ast.expr:
        if node.name not in self.environment.words:
            raise Unsupported
        return self.code.shared(self.environment.matcher(node.name), "words")

    def _ident(self, node: Ident, place: _Place) -> ast.expr:
        if node.role == "local":
            return name_of(place.local[node.name])
        if node.role == "variable":
            return self.names.variable(node.name, place.sure, place.nested)
        if node.role == "constant":
            return self.code.constant(self.environment.constants[node.name])
        if node.role == "input":
            return self.names.whole()
        if node.role == "type":
            return self.code.shared(TYPE_NAMES[node.name][1], "c")
        raise Unsupported

    def _select(self, node: Select, place: _Place) -> ast.expr:
        operand, name = node.operand, node.field
        kind = operand.type
        if node.optional or kind.kind == "abstract":
            raise Unsupported
        if isinstance(operand, Ident) and operand.role == "input" and name in self.environment.variables:
            part = (kind.fields or {}).get(name)
            if part is not None and self.environment.variables[name] is part.type:  # no derived value hides it
                if node.test:
                    return self.names.present(name)
                return self.names.variable(name, place.sure, place.nested)
        inner = self._value(operand, place)
        if node.test:
            if kind.kind in ("object", "map") and exact(kind) and not unlooked(operand):
                return compare(ast.Constant(name), ast.In(), inner)
            return self.code.call(operators.has_field, inner, ast.Constant(name))
        if kind.kind == "object" and kind.fields is not None:
            found = ast.Subscript(inner, ast.Constant(name), ast.Load())
            part = kind.fields.get(name)
            return self._guard(found, part.type, place) if part is not None else found
        if kind.kind == "map" and exact(kind):
            return self._guard(ast.Subscript(inner, ast.Constant(name), ast.Load()), kind.params[1], place)
        found_by = self.code.call(operators.field, inner, ast.Constant(name))
        return self._guard(found_by, kind.params[1], place) if kind.kind == "map" else found_by

    def _index(self, node: Index, place: _Place) -> ast.expr:
        kind = node.operand.type
        if node.optional or kind.kind == "abstract":
            raise Unsupported
        found = self.code.call(operators.index, self._value(node.operand, place), self._value(node.index, place))
        return self._guard(found, kind.params[1], place) if kind.kind == "map" else found

    # operators

    def _unary(self, node: Unary, place: _Place) -> ast.expr:
        inner, kind = self._value(node.operand, place), node.operand.type
        if node.op == "!":
            if kind.kind == "bool" and exact(kind):
                return ast.UnaryOp(ast.Not(), inner)
            return self.code.call(support.negated, inner)
        if kind.kind == "double" and exact(kind):
            return ast.UnaryOp(ast.USub(), inner)
        return self.code.call(operators.negate, inner)

    def _binary(self, node: Binary, place: _Place) -> ast.expr:
        op = node.op
        if op == "in":
            return self._membership(node, place)
        left, right = self._value(node.left, place), self._value(node.right, place)
        one, two = node.left.type, node.right.type
        if op in ("==", "!="):
            return self._equality(node, left, right, place)
        same = one.kind == two.kind
        if op in _COMPARE:
            # null meets an order only to raise, natively as here
            if same and one.kind in ("string", "int", "double", "bytes"):
                return compare(left, _COMPARE[op](), right)
            return self.code.call(operators.BINARY[op], left, right)
        if same and one.kind in ("int", "double") and op in _ARITHMETIC:  # null in arithmetic raises, natively too
            if one.kind == "double":  # a division by zero raises, and the interpreter gives the infinity
                return ast.BinOp(left, _ARITHMETIC[op](), right)
            if one.kind == "int" and op != "/" and place.walrus:
                temp = self.code.fresh()
                total = assigned(temp, ast.BinOp(left, _ARITHMETIC[op](), right))
                fits = ast.Compare(ast.Constant(MIN_INT), [ast.LtE(), ast.LtE()], [total, ast.Constant(MAX_INT)])
                return ast.IfExp(fits, name_of(temp), self.code.call(support.unusual))
        result = self.code.call(operators.BINARY[op], left, right)
        if place.depth and node.type.kind in _SIZED:
            return self.code.call(support.small, result, ast.Constant(support.SMALL_RESULT))
        return result

    def _equality(self, node: Binary, left: ast.expr, right: ast.expr, place: _Place) -> ast.expr:
        one, two, equal = node.left.type, node.right.type, node.op == "=="
        for side, other in ((node.left, right), (node.right, left)):
            if isinstance(side, Literal) and side.value is None:
                return compare(other, ast.Is() if equal else ast.IsNot(), ast.Constant(None))
        if one.kind == two.kind and one.kind in SCALARS:
            return compare(left, _COMPARE[node.op](), right)
        if place.depth and not (one.kind in SCALARS or two.kind in SCALARS):
            if not (light(one) and light(two)):
                raise Unsupported
            left = self.code.call(support.small, left, ast.Constant(support.SMALL_ARGUMENT))
        return self.code.call(operators.equal if equal else operators.not_equal, left, right)

    def _membership(self, node: Binary, place: _Place) -> ast.expr:
        item, kind = self._value(node.left, place), node.left.type
        right = node.right
        known, values = self._known_list(right)
        if known and kind.kind in ("string", "int") and all(type(value) is _PYTHON[kind.kind] for value in values):
            return compare(item, ast.In(), self.code.constant(frozenset(values)))
        container, whole = self._value(right, place), right.type
        if place.depth:  # a search within a walk is one more walk
            if kind.kind not in SCALARS:
                raise Unsupported
            container = self._limited(container, right, place.depth + 1)
        if exact(whole) and exact(kind) and whole.kind in ("list", "map") and not unlooked(right):
            inner = whole.params[0]
            if inner == kind and (kind.kind == "string" or (whole.kind == "list" and kind.kind == "int")):
                return compare(item, ast.In(), container)
        return self.code.call(operators.contains, item, container)

    def _known_list(self, node: Node) -> tuple[bool, list[Any]]:
        """The items of a list that is known now."""
        if isinstance(node, Ident) and node.role == "constant":
            value = self.environment.constants[node.name]
            return isinstance(value, (list, tuple)), list(value) if isinstance(value, (list, tuple)) else []
        if isinstance(node, ListLit) and not node.optional:
            parts = [item.value for item in node.items if isinstance(item, Literal)]
            return len(parts) == len(node.items), parts
        return False, []

    def _limited(self, container: ast.expr, node: Node, depth: int) -> ast.expr:
        """A container that is walked over, `depth` walks deep, refused where that could take more than the budget."""
        if bound_of(node) is not None or node.type.kind in ("map", "object"):
            return container
        most = int((RUN_BUDGET / self.parts) ** (1 / depth))
        return self.code.call(support.bounded, container, ast.Constant(most))

    def _logic(self, node: Logic, place: _Place) -> ast.expr:
        parts = [self._boolean(node.args[0], place)]
        rest = place.unsure()
        parts += [self._boolean(arg, rest) for arg in node.args[1:]]
        return ast.BoolOp(ast.And() if node.op == "&&" else ast.Or(), parts)

    def _ternary(self, node: Ternary, place: _Place) -> ast.expr:
        rest = place.unsure()
        return ast.IfExp(self._boolean(node.condition, place), self._value(node.yes, rest), self._value(node.no, rest))

    # literals

    def _list_literal(self, node: ListLit, place: _Place) -> ast.expr:
        if node.optional:
            raise Unsupported
        return ast.List([self._value(item, place) for item in node.items], ast.Load())

    def _map_literal(self, node: MapLit, place: _Place) -> ast.expr:
        if node.optional:
            raise Unsupported
        entries: list[ast.expr] = [
            ast.Tuple([self._value(key, place), self._value(value, place)], ast.Load()) for key, value in node.entries
        ]
        return self.code.call(operators.make_map, ast.List(entries, ast.Load()))

    # calls

    def _call(self, node: Call, place: _Place) -> ast.expr:
        shared = self._shared_scan(node, place)
        if shared is not None:
            return shared
        parts = node.children()
        args = [self._value(part, place) for part in parts]
        if place.depth:
            most = ast.Constant(support.SMALL_ARGUMENT)
            if node.name not in _CONSTANT_TIME:
                if not all(light(part.type) for part in parts):
                    raise Unsupported
                args = [
                    self.code.call(support.small, arg, most) if part.type.kind in _SIZED else arg
                    for arg, part in zip(args, parts, strict=True)
                ]
        overload: Overload | None = node.overload
        if overload is not None and all(
            fits(part.type, param) for part, param in zip(parts, overload.params, strict=True)
        ):
            args = [
                self.code.call(support.not_null, arg)
                if part.type.nullable and param.kind not in ("dyn", "var")
                else arg
                for arg, part, param in zip(args, parts, overload.params, strict=True)
            ]
            result = self._direct(node, overload, args)
        else:
            result = self.code.call(
                call,
                self.code.shared(self.environment.functions, "functions"),
                ast.Constant(node.name),
                ast.Constant(node.target is not None),
                ast.List(args, ast.Load()),
            )
        if place.depth and node.type.kind in _SIZED:
            return self.code.call(support.small, result, ast.Constant(support.SMALL_RESULT))
        return result

    def _direct(self, node: Call, overload: Overload, args: list[ast.expr]) -> ast.expr:
        """A call of the one overload that fits, in Python's own words where it has them."""
        name = node.name
        if name == "size":
            return ast.Call(name_of("len"), args, [])
        if name == "contains" and overload.method:
            return compare(args[1], ast.In(), args[0])
        if name in ("startsWith", "endsWith"):
            return ast.Call(ast.Attribute(args[0], name.lower(), ast.Load()), [args[1]], [])
        return self.code.call(overload.run, *args)

    def _shared_scan(self, node: Call, place: _Place) -> ast.expr | None:
        """A search in a variable, where several searches are done in one pass."""
        parts = node.children()
        if len(parts) != 2 or not isinstance(parts[0], Ident) or parts[0].role != "variable":
            return None
        if parts[0].type.kind != "string" or not exact(parts[0].type):
            return None
        variable, what = parts[0].name, parts[1]
        if node.name == "mentions" and isinstance(what, Words) and what.name in self.environment.words:
            return self.names.mentions(variable, what.name, place.sure, place.nested)
        if node.name == "matches" and isinstance(what, Literal) and type(what.value) is str:
            return self.names.matches(variable, what.value, place.sure, place.nested)
        return None

    # comprehensions

    def _bind(self, node: Bind, place: _Place) -> ast.expr:
        name = self.code.fresh("v")
        inner = replace(place, local={**place.local, node.name: name}, sure=False, nested=True)
        args = ast.arguments([], [ast.arg(name)], None, [], [], None, [])
        return ast.Call(ast.Lambda(args, self._value(node.body, inner)), [self._value(node.value, place)], [])

    def _comprehension(self, node: Comprehension, place: _Place) -> ast.expr:
        kind = node.target.type
        if node.second or node.kind not in ("all", "exists", "exists_one", "filter", "map"):
            raise Unsupported
        if not exact(kind) or kind.kind != "list" or unlooked(node.target):
            raise Unsupported  # maps and unknown values are walked over by the interpreter
        outside = replace(place, nested=True, walrus=False)
        target = self._limited(self._value(node.target, outside), node.target, place.depth + 1)
        item = self.code.fresh("v")
        local = {**place.local, node.first: item}
        inner = replace(place, local=local, depth=place.depth + 1, sure=False, nested=True)
        condition = self._boolean(node.condition, inner) if node.condition is not None else None
        loop = ast.comprehension(ast.Name(item, ast.Store()), target, [], 0)
        if node.kind in ("all", "exists"):
            assert condition is not None
            each = ast.GeneratorExp(condition, [loop])
            return ast.Call(name_of("all" if node.kind == "all" else "any"), [each], [])
        if node.kind == "exists_one":
            assert condition is not None
            return self.code.call(support.only_one, ast.ListComp(condition, [loop]))
        if condition is not None:
            loop.ifs.append(condition)
        body = name_of(item) if node.body is None else self._value(node.body, inner)
        return ast.ListComp(body, [loop])


def _dict_of(entries: Mapping[str, ast.expr]) -> ast.expr:
    return ast.Dict([ast.Constant(key) for key in entries], list(entries.values()))


_PYTHON: dict[str, type] = {"string": str, "int": int}
_HANDLERS: dict[type, Callable[[Generator, Any, _Place], ast.expr]] = {
    Literal: Generator._literal,
    Ident: Generator._ident,
    Words: Generator._words,
    Select: Generator._select,
    Index: Generator._index,
    Call: Generator._call,
    Unary: Generator._unary,
    Binary: Generator._binary,
    Logic: Generator._logic,
    Ternary: Generator._ternary,
    ListLit: Generator._list_literal,
    MapLit: Generator._map_literal,
    Comprehension: Generator._comprehension,
    Bind: Generator._bind,
}
