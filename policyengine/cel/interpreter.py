"""The slow, obvious evaluator: walks the tree, every rule of the specification spelt out.

The compiled code is tested against it and falls back to it: whenever fast code meets anything unusual, the whole
expression is evaluated again here, so that errors, and what `&&` and `||` make of them, exist in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from policyengine.cel import operators
from policyengine.cel.conform import conform
from policyengine.cel.environment import TYPE_NAMES, Environment
from policyengine.cel.errors import CelError, no_overload
from policyengine.cel.functions import WordMatcher
from policyengine.cel.library.lists import sorted_by
from policyengine.cel.library.registry import call
from policyengine.cel.limits import MAX_LIST_ITEMS, RUN_BUDGET
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
)
from policyengine.cel.types import DYN, STRING
from policyengine.cel.values import Optional

Observer = Callable[[Node, Any], None]
"""Told of every leaf that was evaluated, and its value or its CelError."""


class Interpreter:
    """Evaluates trees against one set of bindings.

    `extra` holds values that are not part of the input (derived values), by name; they are taken as they are.
    """

    def __init__(
        self,
        environment: Environment,
        bindings: Mapping[str, Any],
        extra: Mapping[str, Any] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.environment = environment
        self.bindings = bindings
        self.extra: Mapping[str, Any] = extra if extra is not None else {}
        self.observer = observer
        self.budget = RUN_BUDGET

    def run(self, node: Node) -> Any:
        """The value of a tree. Raises CelError, and nothing else."""
        return self.eval(node, {})

    def eval(self, node: Node, local: dict[str, Any]) -> Any:
        """One node; `local` holds the variables of comprehensions around it."""
        self.budget -= 1
        if self.budget < 0:
            raise _spent()
        handler = _HANDLERS[type(node)]
        observer = self.observer
        if observer is None or type(node) not in _LEAVES:
            try:
                return handler(self, node, local)
            except (CelError, RecursionError):
                raise
            except Exception as error:  # of the value's own methods too: `||` and on_error treat it as any other
                raise CelError(f"the expression cannot be evaluated ({type(error).__name__})") from None
        self.observer = None  # a leaf is told whole, without its parts
        self.budget += 1
        try:
            value = self.eval(node, local)
        except CelError as error:
            observer(node, error)
            raise
        finally:
            self.observer = observer
        observer(node, value)
        return value

    def spend(self, *values: Any) -> None:
        """Take from the budget what walking over some values costs. Raises CelError when it is used up."""
        for value in values:
            self.budget -= operators.weight(value, self.budget)
            if self.budget < 0:
                raise _spent()

    def _literal(self, node: Literal, _local: dict[str, Any]) -> Any:
        return node.value

    def _words(self, node: Words, _local: dict[str, Any]) -> WordMatcher:
        if node.name not in self.environment.words:
            raise CelError(f"unknown word list: {node.name}")
        return self.environment.matcher(node.name)

    def _ident(self, node: Ident, local: dict[str, Any]) -> Any:
        name, role = node.name, node.role
        if role == "local":
            return local[name]
        if role == "variable":
            if name in self.extra:
                value = self.extra[name]
                if isinstance(value, CelError):
                    raise value
                return value
            if name not in self.bindings:
                raise _missing(name)
            return conform(self.bindings[name], self.environment.variables[name], name)
        if role == "constant":
            return self.environment.constants[name]
        if role == "input":
            return self.bindings
        if role == "type":
            return TYPE_NAMES[name][1]
        raise CelError(f"undeclared name: {name}")

    def _select(self, node: Select, local: dict[str, Any]) -> Any:
        value = self.eval(node.operand, local)
        name = node.field
        if node.test:
            return operators.has_field(value, name)
        if node.optional:
            inner = value if type(value) is Optional else Optional(value, True)
            if inner.present and not isinstance(inner.value, Mapping):
                raise CelError(f"field {name!r} of a value that has no fields")
            return operators.field(inner, name)
        if value is self.bindings and name not in self.bindings and isinstance(node.operand, Ident):
            raise _missing(name)
        found = operators.field(value, name)
        kind = node.operand.type
        if kind.kind == "object" and kind.fields and name in kind.fields:
            return conform(found, kind.fields[name].type, f"{kind.name}.{name}")
        if kind.kind == "map":
            return conform(found, kind.params[1], name)
        return found

    def _index(self, node: Index, local: dict[str, Any]) -> Any:
        container = self.eval(node.operand, local)
        key = self.eval(node.index, local)
        if node.optional:
            inner = container if type(container) is Optional else Optional(container, True)
            if not inner.present:
                return inner
            try:
                return Optional(operators.index(inner.value, key), True)
            except CelError:
                return Optional()
        found = operators.index(container, key)
        kind = node.operand.type
        if kind.kind == "map":
            return conform(found, kind.params[1], "a value of a map")
        return found

    def _unary(self, node: Unary, local: dict[str, Any]) -> Any:
        value = self.eval(node.operand, local)
        if node.op == "!":
            if value is True or value is False:
                return not value
            raise no_overload("!")
        return operators.negate(value)

    def _binary(self, node: Binary, local: dict[str, Any]) -> Any:
        left = self.eval(node.left, local)
        right = self.eval(node.right, local)
        if node.op in _WALKING:
            self.spend(left, right)
        return operators.BINARY[node.op](left, right)

    def _logic(self, node: Logic, local: dict[str, Any]) -> bool:
        decisive = node.op == "||"
        failure: CelError | None = None
        for arg in node.args:
            try:
                value = operators.truth(self.eval(arg, local))
            except CelError as error:
                failure = failure or error
                continue
            if value is decisive:
                return decisive
        if failure is not None:
            raise failure
        return not decisive

    def _ternary(self, node: Ternary, local: dict[str, Any]) -> Any:
        chosen = node.yes if operators.truth(self.eval(node.condition, local)) else node.no
        return self.eval(chosen, local)

    def _call(self, node: Call, local: dict[str, Any]) -> Any:
        args = [self.eval(arg, local) for arg in node.children()]
        if node.name in _CONSTANT_TIME:
            return call(self.environment.functions, node.name, node.target is not None, args)
        self.spend(*args)
        if node.name in _QUADRATIC:
            sizes = [operators.weight(arg, self.budget) for arg in args]
            self.budget -= sizes[0] * sizes[-1]
            if self.budget < 0:
                raise _spent()
        result = call(self.environment.functions, node.name, node.target is not None, args)
        self.spend(result)
        return result

    def _list_literal(self, node: ListLit, local: dict[str, Any]) -> list[Any]:
        items: list[Any] = []
        for at, part in enumerate(node.items):
            value = self.eval(part, local)
            if at not in node.optional:
                items.append(value)
            elif type(value) is not Optional:
                raise no_overload("an optional item takes an optional value")
            elif value.present:
                items.append(value.value)
        return items

    def _map_literal(self, node: MapLit, local: dict[str, Any]) -> Mapping[Any, Any]:
        entries: list[tuple[Any, Any]] = []
        for at, (key_node, value_node) in enumerate(node.entries):
            key, value = self.eval(key_node, local), self.eval(value_node, local)
            if at not in node.optional:
                entries.append((key, value))
            elif type(value) is not Optional:
                raise no_overload("an optional entry takes an optional value")
            elif value.present:
                entries.append((key, value.value))
        return operators.make_map(entries)

    def _bind(self, node: Bind, local: dict[str, Any]) -> Any:
        return self.eval(node.body, {**local, node.name: self.eval(node.value, local)})

    def _comprehension(self, node: Comprehension, local: dict[str, Any]) -> Any:
        target = self.eval(node.target, local)
        if node.kind in ("optMap", "optFlatMap"):
            return self._optional_map(node, target, local)
        scopes = self._scopes(node, target, local)
        return _COMPREHENSIONS[node.kind](self, node, scopes)

    def _optional_map(self, node: Comprehension, target: Any, local: dict[str, Any]) -> Any:
        if type(target) is not Optional:
            raise no_overload(node.kind)
        if not target.present:
            return target
        assert node.body is not None
        value = self.eval(node.body, {**local, node.first: target.value})
        return Optional(value, True) if node.kind == "optMap" else value

    def _scopes(self, node: Comprehension, target: Any, local: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """The local variables of each step."""
        kind = node.target.type
        if isinstance(target, Mapping):
            key_type = kind.params[0] if kind.kind == "map" else STRING if kind.kind == "object" else DYN
            value_type = kind.params[1] if kind.kind == "map" else DYN
            for key, value in target.items():
                scope = {**local, node.first: conform(key, key_type, "a key of a map")}
                if node.second:
                    scope[node.second] = conform(value, value_type, "a value of a map")
                yield scope
        elif isinstance(target, (list, tuple)):
            for at, item in enumerate(target):
                pair = {node.first: at, node.second: item} if node.second else {node.first: item}
                yield {**local, **pair}
        else:
            raise no_overload(f"{node.kind}() over a value that is neither list nor map")

    def _quantifier(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> bool:
        decisive = node.kind == "exists"
        failure: CelError | None = None
        assert node.condition is not None
        for scope in scopes:
            try:
                value = operators.truth(self.eval(node.condition, scope))
            except CelError as error:
                failure = failure or error
                if self.budget < 0:  # nothing more can be evaluated
                    break
                continue
            if value is decisive:
                return decisive
        if failure is not None:
            raise failure
        return not decisive

    def _exists_one(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> bool:
        assert node.condition is not None
        return sum(operators.truth(self.eval(node.condition, scope)) for scope in scopes) == 1

    def _kept(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        for scope in scopes:
            if node.condition is None or operators.truth(self.eval(node.condition, scope)):
                yield scope

    def _filter(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> list[Any]:
        return [scope[node.first] for scope in self._kept(node, scopes)]

    def _map(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> list[Any]:
        assert node.body is not None
        return [self.eval(node.body, scope) for scope in self._kept(node, scopes)]

    def _sort_by(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> list[Any]:
        assert node.body is not None
        pairs = [(scope[node.first], self.eval(node.body, scope)) for scope in scopes]
        return sorted_by([item for item, _ in pairs], [key for _, key in pairs])

    def _transform_map(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> Mapping[Any, Any]:
        assert node.body is not None
        return operators.make_map(
            [(scope[node.first], self.eval(node.body, scope)) for scope in self._kept(node, scopes)]
        )

    def _transform_entry(self, node: Comprehension, scopes: Iterable[dict[str, Any]]) -> Mapping[Any, Any]:
        assert node.body is not None
        entries: list[tuple[Any, Any]] = []
        for scope in self._kept(node, scopes):
            part = self.eval(node.body, scope)
            if not isinstance(part, Mapping):
                raise no_overload("transformMapEntry() takes a map")
            entries.extend(part.items())
            if len(entries) > MAX_LIST_ITEMS:
                raise CelError(f"a map would have more than {MAX_LIST_ITEMS} entries")
        return operators.make_map(entries)


def _missing(name: str) -> CelError:
    return CelError(f"the input has no {name}")


def _spent() -> CelError:
    return CelError(f"the expression took more than {RUN_BUDGET} steps")


_WALKING = frozenset(("==", "!=", "in", "+"))
"""Operators that walk over their operands."""
_CONSTANT_TIME = frozenset(("size", "dyn", "type"))
_QUADRATIC = frozenset(("sets.contains", "sets.equivalent", "sets.intersects", "distinct"))

_COMPREHENSIONS: dict[str, Callable[[Interpreter, Comprehension, Iterable[dict[str, Any]]], Any]] = {
    "all": Interpreter._quantifier,
    "exists": Interpreter._quantifier,
    "exists_one": Interpreter._exists_one,
    "filter": Interpreter._filter,
    "map": Interpreter._map,
    "sortBy": Interpreter._sort_by,
    "transformMap": Interpreter._transform_map,
    "transformMapEntry": Interpreter._transform_entry,
}

_HANDLERS: dict[type, Callable[[Interpreter, Any, dict[str, Any]], Any]] = {
    Literal: Interpreter._literal,
    Ident: Interpreter._ident,
    Words: Interpreter._words,
    Select: Interpreter._select,
    Index: Interpreter._index,
    Call: Interpreter._call,
    Unary: Interpreter._unary,
    Binary: Interpreter._binary,
    Logic: Interpreter._logic,
    Ternary: Interpreter._ternary,
    ListLit: Interpreter._list_literal,
    MapLit: Interpreter._map_literal,
    Comprehension: Interpreter._comprehension,
    Bind: Interpreter._bind,
}
_LEAVES = frozenset((Ident, Select, Index, Call, Comprehension, Bind))
"""What an observer is told about. What stands inside a leaf is not told apart."""


def is_leaf(node: Node) -> bool:
    """Whether an observer is told of a node of this kind."""
    return type(node) in _LEAVES


def interpret(
    environment: Environment,
    node: Node,
    bindings: Mapping[str, Any],
    extra: Mapping[str, Any],
    local: dict[str, Any],
) -> Any:
    """The value of a part of an expression, by the interpreter."""
    return Interpreter(environment, bindings, extra).eval(node, local)
