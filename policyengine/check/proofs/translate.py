"""CEL to terms of the solver, with CEL's own errors: overflow, null in arithmetic, a missing field.

What the solver cannot know (regular expressions, word lists, functions) becomes an unknown: the same unknown for the
same arguments, and any value otherwise. So what is proven holds whatever those functions say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policyengine.cel import CelError
from policyengine.cel.library.registry import call
from policyengine.cel.limits import RUN_BUDGET
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
    Node,
    Select,
    Ternary,
    Unary,
    Words,
)
from policyengine.check.proofs import calculation
from policyengine.check.proofs.inputs import Inputs
from policyengine.check.proofs.reading import Read, tree
from policyengine.check.proofs.solver import Term, both, choose, either, no, z3
from policyengine.check.proofs.symbols import NOT_KNOWN, SCALARS, Predicate, Symbol, Texts, literal, merged

Scope = Mapping[str, Symbol]

_TOTAL = frozenset(
    ("matches", "mentions", "startsWith", "endsWith", "contains", "size", "lowerAscii", "upperAscii", "trim")
)
"""Functions of texts that never fail."""


class Translator:
    """Translates the expressions of one table over one set of inputs.

    `tag` keeps its unknowns apart from those of another translator over the same inputs.
    """

    def __init__(self, read: Read, inputs: Inputs, texts: Texts, tag: str = "") -> None:
        self.read, self.inputs, self.texts, self.tag = read, inputs, texts, tag
        self.unknowns: dict[str, None] = {}
        """What was taken as an unknown, as text, in order."""
        self.failing_tests = 0
        """Tests over list items that can fail: each may need a witness of its own."""
        self.extra: dict[str, Symbol] = {}
        """Names beside the table's own: `outcome` and `rule` in a stated property."""
        self._derived: dict[str, Symbol] = {}
        self._fresh = 0
        self._inside = False
        self._tests = 1 + sum(len(_nodes(one.node)) for one in read.programs() if one.node is not None)

    def named(self, name: str) -> Symbol:
        """A variable, constant or derived value."""
        if name in self.extra:
            return self.extra[name]
        if name in self.read.derived:
            if name not in self._derived:
                # A derived value never sees the names of a property, whoever asks for it first.
                extra, self.extra = self.extra, {}
                self._derived[name] = self.of(tree(self.read.derived[name]))
                self.extra = extra
            return self._derived[name]
        if name in self.inputs.whole.fields:
            there, value = self.inputs.whole.fields[name]
            return value.failing(no(there))
        if name in self.read.table.constants:
            return literal(self.read.table.constants[name], self.texts)
        return self.unknown(name)

    def of(self, node: Node, scope: Scope | None = None) -> Symbol:
        """The symbol of an expression."""
        return _HANDLERS.get(type(node), Translator._other)(self, node, scope or {})

    def condition(self, node: Node, scope: Scope | None = None) -> Symbol:
        """The symbol of an expression that has to be a bool: anything else is an error."""
        return self._truth(self.of(node, scope), node)

    def unknown(self, label: str, kind: str = "unknown", fails: bool = True) -> Symbol:
        """Something that may have any value, and where `fails` be an error."""
        self.unknowns[label] = None
        self._fresh += 1
        name = f"unknown{self.tag}{self._fresh}"
        error = z3().Bool(f"{name}!") if fails else False
        makers: dict[str, Callable[[str], Any]] = {
            "bool": z3().Bool,
            "int": z3().Int,
            "double": z3().Real,
            "string": z3().Int,
        }
        if kind not in makers:
            return Symbol("unknown", error=error)
        return Symbol(kind, makers[kind](name), error=error)

    def _truth(self, value: Symbol, node: Node) -> Symbol:
        if value.kind == "bool":
            return value.failing(value.null)
        if value.kind == "unknown":
            found = self.unknown(self._text(node), "bool")
            return found.failing(value.error)
        return Symbol("bool", False, error=True)

    def _text(self, node: Node) -> str:
        for program in self.read.programs():
            if program.node is not None and any(node is one for one in _nodes(program.node)):
                return program.text[node.offset : node.end]
        return "an expression of the property"

    def _other(self, node: Node, scope: Scope) -> Symbol:
        kind = node.type.kind if node.type.kind in SCALARS and not node.type.nullable else "unknown"
        return self.unknown(self._text(node), kind)

    def _literal(self, node: Literal, scope: Scope) -> Symbol:
        return literal(node.value, self.texts)

    def _ident(self, node: Ident, scope: Scope) -> Symbol:
        if node.role == "local":
            return scope[node.name]
        return self.inputs.whole if node.role == "input" else self.named(node.name)

    def _select(self, node: Select, scope: Scope) -> Symbol:
        value = self.of(node.operand, scope)
        if value.kind != "object" or node.optional:
            return self._other(node, scope)
        error = either(value.error, value.null)
        if node.field not in value.fields:
            closed = node.operand.type.kind == "object" and node.operand.type.extra is None
            if not closed and value.constant is NOT_KNOWN:
                return self._other(node, scope)
            return Symbol("bool", False, error=error) if node.test else Symbol("unknown", error=True)
        there, found = value.fields[node.field]
        if node.test:
            return Symbol("bool", there, error=error)
        return found.failing(either(error, no(there)))

    def _unary(self, node: Unary, scope: Scope) -> Symbol:
        if node.op == "!":
            value = self.condition(node.operand, scope)
            return Symbol("bool", no(value.term), error=value.error)
        return calculation.negated(self.of(node.operand, scope)) or self._other(node, scope)

    def _binary(self, node: Binary, scope: Scope) -> Symbol:
        if node.op in ("==", "!=") and (asked := self._is_map(node, scope)) is not None:
            return asked
        left, right = self.of(node.left, scope), self.of(node.right, scope)
        if node.op in ("==", "!="):
            same = calculation.equal(left, right)
            if same is None:
                return self.unknown(self._text(node), "bool", False).failing(either(left.error, right.error))
            return Symbol("bool", same if node.op == "==" else no(same), error=either(left.error, right.error))
        if node.op == "in":
            return self._contains(node, left, right, scope)
        return calculation.binary(node.op, left, right) or self._other(node, scope)

    def _is_map(self, node: Binary, scope: Scope) -> Symbol | None:
        """`type(X) == map` of a part of the input without a type; None for everything else."""
        call, of = node.left, node.right
        if not isinstance(call, Call) or call.name != "type" or len(call.args) != 1:
            return None
        if not isinstance(of, Ident) or (of.role, of.name) != ("type", "map"):
            return None
        value = self.of(call.args[0], scope)
        if value.shape is None:
            return None
        return Symbol("bool", value.is_map if node.op == "==" else no(value.is_map), error=value.error)

    def _contains(self, node: Binary, left: Symbol, right: Symbol, scope: Scope) -> Symbol:
        if right.kind == "list" and (right.exact or not self._inside):
            tests = [(there, calculation.equal(left, item)) for there, item in right.items]
            known = [both(there, same) for there, same in tests if same is not None]
            if len(known) == len(tests):
                error = either(left.error, right.error, right.null, *(item.error for _, item in right.items))
                return Symbol("bool", either(*known), error=error)
        if right.shape is not None and isinstance(left.constant, str):
            there, _ = right.shape.at(left.constant)
            error = either(left.error, right.error)
            if right.is_map is True:
                return Symbol("bool", there, error=error)
            other = self._other(node, scope)  # a list may hold the text; anything else is an error
            failed = both(no(right.is_map), other.error)
            return Symbol("bool", choose(right.is_map, there, other.term), error=either(error, failed))
        return self._other(node, scope)

    def _logic(self, node: Logic, scope: Scope) -> Symbol:
        parts = [self.condition(part, scope) for part in node.args]
        return _joined(parts, node.op == "||")

    def _ternary(self, node: Ternary, scope: Scope) -> Symbol:
        test = self.condition(node.condition, scope)
        chosen = merged(test.term, self.of(node.yes, scope), self.of(node.no, scope))
        if chosen.kind == "unknown":
            kind = node.type.kind if not node.type.nullable else "unknown"
            chosen = self.unknown(self._text(node), kind)
        return chosen.failing(test.error)

    def _list(self, node: ListLit, scope: Scope) -> Symbol:
        if node.optional:
            return self._other(node, scope)
        items = [self.of(item, scope) for item in node.items]
        known = [item.constant for item in items]
        return Symbol(
            "list",
            error=either(*(item.error for item in items)),
            constant=NOT_KNOWN if any(value is NOT_KNOWN for value in known) else known,
            items=tuple((True, item) for item in items),
            size=z3().IntVal(len(items)),
        )

    def _bind(self, node: Bind, scope: Scope) -> Symbol:
        return self.of(node.body, {**scope, node.name: self.of(node.value, scope)})

    def _comprehension(self, node: Comprehension, scope: Scope) -> Symbol:
        target = self.of(node.target, scope)
        quantified = node.kind in ("exists", "all") and node.second is None and node.condition is not None
        if target.kind != "list" or not quantified or (not target.exact and self._inside):
            return self._other(node, scope)
        assert node.condition is not None
        outer, self._inside = self._inside, self._inside or not target.exact
        some = node.kind == "exists"
        parts = []
        for there, item in target.items:
            test = self.condition(node.condition, {**scope, node.first: item})
            term = both(there, test.term) if some else either(no(there), test.term)
            parts.append(Symbol("bool", term, error=both(there, test.error)))
        self._inside = outer
        if not target.exact and any(part.error is not False for part in parts):
            self.failing_tests += 1
        return _joined(parts, some).failing(either(target.error, target.null, self._too_long(node, target)))

    def _too_long(self, node: Comprehension, target: Symbol) -> Term:
        """Where a list may be so long that the evaluator's budget of steps is used up."""
        most = node.target.type.max_items
        if target.exact or (most is not None and most * self._tests <= RUN_BUDGET):
            return False
        return both(target.size * self._tests > RUN_BUDGET, self.unknown("the budget of steps", "bool", False).term)

    def _index(self, node: Index, scope: Scope) -> Symbol:
        """An item of a list whose length is known, or what stands at a key of a map; everything else is unknown."""
        value, at = self.of(node.operand, scope), self.of(node.index, scope)
        if value.shape is not None and isinstance(at.constant, str) and not node.optional:
            there, part = value.shape.at(at.constant)
            return part.failing(either(value.error, at.error, no(both(value.is_map, there))))
        if value.kind != "list" or not value.exact or at.kind != "int" or node.optional or not value.items:
            return self._other(node, scope)
        found = value.items[-1][1]
        for index, (_, item) in reversed(list(enumerate(value.items[:-1]))):
            found = merged(at.term == index, item, found)
        outside = either(at.term < 0, at.term >= len(value.items))
        return found.failing(either(value.error, value.null, at.error, at.null, outside))

    def _call(self, node: Call, scope: Scope) -> Symbol:
        args = [self.of(part, scope) for part in node.children() if not isinstance(part, Words)]
        if node.name == "size" and len(args) == 1 and args[0].kind == "list":
            return Symbol("int", args[0].size, error=either(args[0].error, args[0].null))
        found = calculation.function(node.name, args)
        return found or self._function(node, args)

    def _function(self, node: Call, args: list[Symbol]) -> Symbol:
        """A function of one text that depends on the input, all else known: an unknown that is consistent."""
        error = either(*(one.error for one in args), *(one.null for one in args))
        open_ = [index for index, one in enumerate(args) if one.constant is NOT_KNOWN]
        kind = node.type.kind
        if len(open_) != 1 or args[open_[0]].kind != "string" or kind not in ("bool", "int", "string", "double"):
            return self.unknown(self._text(node), kind if kind in SCALARS else "unknown").failing(error)
        at = open_[0]
        label = f"{self._text(node)}"
        words = next((part.name for part in node.children() if isinstance(part, Words)), None)
        listed = self.read.environment.words.get(words) if words is not None else None
        key = repr((node.name, at, listed, [one.constant for index, one in enumerate(args) if index != at]))
        predicate = self.texts.predicates.get(key)
        if predicate is None:
            predicate = self._predicate(node, args, at, label, words, key)
        self.unknowns[label] = None
        term = args[at].term
        fails = predicate.failing(term) if predicate.failing is not None else False
        return Symbol(kind, predicate.term(term), error=either(error, fails))

    def _predicate(self, node: Call, args: list[Symbol], at: int, label: str, words: str | None, key: str) -> Predicate:
        sorts = {"bool": z3().BoolSort, "int": z3().IntSort, "string": z3().IntSort, "double": z3().RealSort}
        environment = self.read.environment

        def evaluate(text: str) -> Any:
            values: list[Any] = [text if index == at else one.constant for index, one in enumerate(args)]
            if words is not None:
                values.append(environment.matcher(words))
            return call(environment.functions, node.name, node.target is not None, values)

        number = len(self.texts.predicates)
        term = z3().Function(f"f{number}", z3().IntSort(), sorts[node.type.kind]())
        failing = None
        if node.name not in _TOTAL:
            failing = z3().Function(f"f{number}!", z3().IntSort(), z3().BoolSort())
        made = Predicate(label, term, failing, evaluate, node.type.kind)
        self.texts.predicates[key] = made
        return made


def _joined(parts: list[Symbol], some: bool) -> Symbol:
    """`||` (some) or `&&` over parts: one decisive part settles it, whatever errors the others have."""
    decisive = [both(no(part.error), part.term if some else no(part.term)) for part in parts]
    settled = either(*decisive)
    failed = both(no(settled), either(*(part.error for part in parts)))
    return Symbol("bool", settled if some else no(settled), error=failed)


def _nodes(root: Node) -> list[Node]:
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children())
    return found


def facts(texts: Texts) -> list[Term]:
    """What the engine says about every text that has a number."""
    found: list[Term] = []
    for predicate in list(texts.predicates.values()):
        for text, number in list(texts.numbers.items()):
            try:
                value = predicate.evaluate(text)
            except CelError:
                if predicate.failing is not None:
                    found.append(predicate.failing(number))
                continue
            if predicate.failing is not None:
                found.append(no(predicate.failing(number)))
            known = literal(value, texts)
            found.append(predicate.term(number) == known.term)
    return found


_HANDLERS: dict[type, Callable[[Translator, Any, Scope], Symbol]] = {
    Literal: Translator._literal,
    Ident: Translator._ident,
    Select: Translator._select,
    Unary: Translator._unary,
    Binary: Translator._binary,
    Logic: Translator._logic,
    Ternary: Translator._ternary,
    ListLit: Translator._list,
    Bind: Translator._bind,
    Index: Translator._index,
    Comprehension: Translator._comprehension,
    Call: Translator._call,
}
