"""The type checker: what an expression is, and what is wrong with it before it ever runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from policyengine.cel import types as t
from policyengine.cel.environment import TYPE_NAMES, Environment, type_of_constant
from policyengine.cel.errors import CelError, Issue
from policyengine.cel.guards import Guards, path_of
from policyengine.cel.hints import advice, nearest, signature
from policyengine.cel.library.formatting import complaint
from policyengine.cel.library.symbols import SIGNATURES, Signature
from policyengine.cel.regex import pattern_search
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
from policyengine.cel.unify import SCALARS, Unifier, clash
from policyengine.source.finding import Severity

Scope = dict[str, Type]


def check(root: Node, environment: Environment, holding: Node | None = None) -> list[Issue]:
    """Give every node of a resolved tree its type, and tell what is wrong, in the order of the text.

    `holding` is a condition, read in the same environment, that is known to hold where this is evaluated.
    """
    checker = _Checker(environment)
    checker.visit(root, {}, Guards() if holding is None else Guards().after(holding, True))
    for node in walk(root):
        if node.type.params or node.type.kind == "var":
            node.type = checker.unifier.resolved(node.type, t.DYN)
    return sorted(checker.issues, key=lambda issue: issue.offset)


def match(unifier: Unifier, args: Sequence[Type], signatures: Iterable[Signature]) -> tuple[Type | None, list[int]]:
    """The result type over all signatures that fit (`dyn` when they differ), and which they were."""
    result: Type | None = None
    fitting: list[int] = []
    for at, (params, out) in enumerate(signatures):
        if len(params) != len(args) or clash(args, params):
            continue
        *formal, produced = unifier.instance([*params, out])
        if unifier.assignable_all(args, formal):
            fitting.append(at)
            produced = unifier.resolved(produced)
            if result is None or result == produced:
                result = produced
            elif result.kind != "dyn":
                result = t.DYN
    return result, fitting


@cache
def _of_scalars(op: str, kinds: tuple[Type, ...]) -> Type | None:
    """What an operator makes of scalars. They have no parameters to learn about, so that once is enough."""
    return match(Unifier(), kinds, SIGNATURES[op])[0]


class _Checker:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.unifier = Unifier()
        self.issues: list[Issue] = []
        self.matched: set[Node] = set()
        """The word lists that stand where one may stand."""

    def report(
        self, code: str, message: str, offset: int, end: int, hint: str | None = None, error: bool = True
    ) -> Type:
        severity = Severity.ERROR if error else Severity.WARNING
        self.issues.append(Issue(code, message, offset, max(end - offset, 1), hint, severity))
        return t.ERROR

    def show(self, kind: Type) -> str:
        return str(self.unifier.resolved(kind, t.DYN))

    def visit(self, node: Node, scope: Scope, guards: Guards) -> Type:
        node.type = self.type_of(node, scope, guards)
        return node.type

    def type_of(self, node: Node, scope: Scope, guards: Guards) -> Type:
        if isinstance(node, Literal):
            return type_of_constant(node.value)
        if isinstance(node, Ident):
            return self.ident(node, scope, guards)
        if isinstance(node, Select):
            return self.select(node, scope, guards)
        if isinstance(node, Call):
            return self.call(node, scope, guards)
        if isinstance(node, Binary):
            return self.binary(node, scope, guards)
        if isinstance(node, Logic):
            return self.logic(node, scope, guards)
        if isinstance(node, Unary):
            return self.apply(f"{node.op}_", [node.operand], node, node.offset, scope, guards)
        if isinstance(node, Ternary):
            return self.ternary(node, scope, guards)
        if isinstance(node, Index):
            return self.index(node, scope, guards)
        if isinstance(node, ListLit):
            return self.list_literal(node, scope, guards)
        if isinstance(node, MapLit):
            return self.map_literal(node, scope, guards)
        if isinstance(node, Comprehension):
            return self.comprehension(node, scope, guards)
        if isinstance(node, Bind):
            value = self.visit(node.value, scope, guards)
            return self.visit(node.body, {**scope, node.name: value}, guards.without(node.name))
        assert isinstance(node, Words)
        if node not in self.matched:
            self.report(
                "operands",
                f"a word list can only be looked for: text.mentions(words.{node.name})",
                node.offset,
                node.end,
            )
        if node.name not in self.environment.words:
            known = f"known: {', '.join(sorted(self.environment.words)) or 'none'}"
            hint = nearest(node.name, self.environment.words) or known
            return self.report("unknown-words", f"unknown word list {node.name!r}", node.offset, node.end, hint)
        return t.WORDS

    # names and fields

    def ident(self, node: Ident, scope: Scope, guards: Guards) -> Type:
        role, name = node.role, node.name
        if role == "local":
            return scope[name]
        if role == "variable":
            self.check_present(node, name, guards)
            return self.environment.variables[name]
        if role == "constant":
            return type_of_constant(self.environment.constants[name])
        if role == "input":
            assert self.environment.input is not None
            return self.environment.input
        if role == "type":
            return TYPE_NAMES[name][0]
        names = {*self.environment.variables, *self.environment.constants, *scope}
        return self.report("unknown-name", f"unknown name {name!r}", node.offset, node.end, nearest(name, names))

    def check_present(self, node: Ident, name: str, guards: Guards) -> None:
        """Complain about a variable that the input may lack, unless `has(input.NAME)` holds here."""
        whole = self.environment.input
        part = whole.fields.get(name) if whole is not None and whole.fields is not None else None
        if part is None or part.required or name in self.environment.hidden:
            return
        if f"input.{name}" not in guards:
            self.report(
                "optional-field",
                f"{name!r} may be missing from the input",
                node.offset,
                node.end,
                f"ask first: has(input.{name}) && ...",
            )

    def select(self, node: Select, scope: Scope, guards: Guards) -> Type:
        operand = self.unifier.resolved(self.visit(node.operand, scope, guards))
        if operand.kind == "abstract" and operand.name == "optional_type":
            inner = self.member(node, operand.params[0], guards, asked=True)
            return t.BOOL if node.test else t.abstract("optional_type", inner)
        found = self.member(node, operand, guards, asked=node.test or node.optional)
        if node.optional:
            return t.abstract("optional_type", found)
        return t.BOOL if node.test else found

    def member(self, node: Select, operand: Type, guards: Guards, asked: bool) -> Type:
        """The type of a field; `asked` when its absence is allowed for."""
        name, end = node.field, node.field_offset + len(node.field)
        if operand.kind in ("dyn", "error", "var"):
            return t.DYN
        if operand.kind == "map":
            return operand.params[1]
        if operand.kind != "object" or operand.fields is None:
            return self.report(
                "no-fields", f"a value of type {self.show(operand)} has no fields", node.field_offset, end
            )
        part = operand.fields.get(name)
        if part is None:
            if operand.extra is not None:
                return operand.extra
            hint = nearest(name, operand.fields)
            return self.report("unknown-field", f"{operand.name} has no field {name!r}", node.field_offset, end, hint)
        if not part.required and not asked:
            path = path_of(node)
            if path is None or path not in guards:
                self.report(
                    "optional-field",
                    f"{operand.name}.{name} may be missing",
                    node.field_offset,
                    end,
                    f"ask first: has({path or '...'}) && ...",
                )
        return part.type

    # operators

    def match(self, args: Sequence[Type], signatures: Iterable[Signature]) -> tuple[Type | None, list[int]]:
        return match(self.unifier, args, signatures)

    def apply(self, op: str, operands: Sequence[Node], node: Node, offset: int, scope: Scope, guards: Guards) -> Type:
        kinds = [self.visit(operand, scope, guards) for operand in operands]
        if all(kind.kind in SCALARS for kind in kinds):
            result = _of_scalars(op, tuple(kinds))
        else:
            result, _ = self.match(kinds, SIGNATURES[op])
        if result is None:
            shown = " and ".join(self.show(kind) for kind in kinds)
            name = op.strip("_")
            self.report("operands", f"{name!r} does not take {shown}", offset, offset + len(name), advice(op, kinds))
            return t.BOOL if op in _BOOLEAN else t.ERROR
        return result

    def binary(self, node: Binary, scope: Scope, guards: Guards) -> Type:
        result = self.apply(node.op, (node.left, node.right), node, node.op_offset, scope, guards)
        if node.op in ("==", "!="):
            self.check_enum(node, node.left, [node.right])
            self.check_enum(node, node.right, [node.left])
        elif node.op == "in" and isinstance(node.right, ListLit):
            self.check_enum(node, node.left, node.right.items)
        elif node.op == "in":
            known, values = self.constant(node.right)
            if known and isinstance(values, (list, tuple)):
                for value in values:
                    self.check_never(node, node.left.type, value, node.right)
        return result

    def check_enum(self, node: Binary, side: Node, others: Sequence[Node]) -> None:
        """A comparison of an enumerated value with something that it never is."""
        for other in others:
            known, value = self.constant(other)
            if known:
                self.check_never(node, side.type, value, other)

    def check_never(self, node: Binary, kind: Type, value: Any, other: Node) -> None:
        values = kind.enum
        if not values or type(value) is not type(values[0]) or value in values:
            return
        never = "always" if node.op == "!=" else "never"
        shown = ", ".join(map(repr, values)) if len(values) <= 12 else f"{len(values)} other values"
        hint = nearest(str(value), map(str, values))
        self.report(
            "never-true", f"this is {never} true: {value!r} is not among {shown}", other.offset, other.end, hint
        )

    def constant(self, node: Node) -> tuple[bool, Any]:
        if isinstance(node, Literal):
            return True, node.value
        if isinstance(node, Ident) and node.role == "constant":
            return True, self.environment.constants[node.name]
        return False, None

    def logic(self, node: Logic, scope: Scope, guards: Guards) -> Type:
        for arg in node.args:
            self.condition(arg, scope, guards, f"operand of {node.op}")
            guards = guards.after(arg, node.op == "&&")
        return t.BOOL

    def condition(self, node: Node, scope: Scope, guards: Guards, what: str) -> None:
        kind = self.visit(node, scope, guards)
        if not self.unifier.assignable(kind, t.BOOL):
            self.report("not-bool", f"{what} is {self.show(kind)}, expected bool", node.offset, node.end)

    def ternary(self, node: Ternary, scope: Scope, guards: Guards) -> Type:
        self.condition(node.condition, scope, guards, "the condition")
        yes = self.visit(node.yes, scope, guards.after(node.condition, True))
        no = self.visit(node.no, scope, guards.after(node.condition, False))
        result, _ = self.match([t.BOOL, yes, no], SIGNATURES["?:"])
        if result is None:
            message = f"the two results differ: {self.show(yes)} and {self.show(no)}"
            hint = advice("?:", (yes, no)) or "wrap one in dyn() if that is meant"
            return self.report("operands", message, node.yes.offset, node.no.end, hint)
        return result

    def index(self, node: Index, scope: Scope, guards: Guards) -> Type:
        container = self.unifier.resolved(self.visit(node.operand, scope, guards))
        key = self.visit(node.index, scope, guards)
        maybe = container.kind == "abstract" and container.name == "optional_type"
        if maybe:
            container = container.params[0]
        result, _ = self.match([container, key], SIGNATURES["[]"])
        if result is None:
            message = f"[] does not take {self.show(container)} and {self.show(key)}"
            return self.report("operands", message, node.index.offset, node.index.end)
        return t.abstract("optional_type", result) if maybe or node.optional else result

    # literals

    def list_literal(self, node: ListLit, scope: Scope, guards: Guards) -> Type:
        kinds = [self.visit(item, scope, guards) for item in node.items]
        for at in node.optional:
            kinds[at] = self.inside(kinds[at], node.items[at])
        return t.list_of(self.unifier.join(kinds), len(kinds))

    def map_literal(self, node: MapLit, scope: Scope, guards: Guards) -> Type:
        keys = [self.visit(key, scope, guards) for key, _ in node.entries]
        values = [self.visit(value, scope, guards) for _, value in node.entries]
        for at, kind in enumerate(keys):
            if self.unifier.resolved(kind).kind not in (
                "string",
                "int",
                "uint",
                "bool",
                "dyn",
                "var",
                "error",
            ):
                key = node.entries[at][0]
                self.report("map-key", f"a map cannot have {self.show(kind)} keys", key.offset, key.end)
        for at in node.optional:
            values[at] = self.inside(values[at], node.entries[at][1])
        if not node.entries:
            return t.map_of(self.unifier.fresh(), self.unifier.fresh())
        return t.map_of(self.unifier.join(keys), self.unifier.join(values))

    def inside(self, kind: Type, node: Node) -> Type:
        kind = self.unifier.resolved(kind)
        if kind.kind == "abstract" and kind.name == "optional_type":
            return kind.params[0]
        if kind.kind not in ("dyn", "var", "error"):
            self.report("operands", f"'?' takes an optional value, not {self.show(kind)}", node.offset, node.end)
        return t.DYN

    # calls

    def call(self, node: Call, scope: Scope, guards: Guards) -> Type:
        if node.name == "mentions" and len(node.args) == 1:
            self.matched.add(node.args[0])
        args = [self.visit(arg, scope, guards) for arg in node.children()]
        method = node.target is not None
        functions = self.environment.functions
        overloads = functions.get((node.name, method))
        end = node.name_offset + len(node.name)
        if overloads is None:
            names = {name for name, is_method in functions if is_method == method}
            hint = nearest(node.name, names)
            if (node.name, not method) in functions:
                hint = f"write {'size(x)' if not method else node.name + '(x)'}" if method else f"write x.{node.name}()"
            kind = "method" if method else "function"
            return self.report("unknown-function", f"unknown {kind} {node.name!r}", node.name_offset, end, hint)
        result, fitting = self.match(args, ((one.params, one.result) for one in overloads))
        if result is None:
            shown = ", ".join(self.show(kind) for kind in args[method:])
            on = f"{self.show(args[0])}." if method else ""
            takes = " or ".join(sorted({signature(one.name, one.params, method) for one in overloads})[:3])
            message = f"{node.name!r} does not take {on}({shown})"
            return self.report("operands", message, node.name_offset, end, f"it takes {takes}")
        if len(fitting) == 1:
            node.overload = overloads[fitting[0]]
        if node.name == "matches":
            self.check_pattern(node.args[-1])
        elif node.name == "format" and node.target is not None:
            self.check_format(node.target, node.args[0])
        return result

    def check_format(self, template: Node, values: Node) -> None:
        """A template that is known now is looked at now."""
        known, text = self.constant(template)
        if known and type(text) is str and isinstance(values, ListLit):
            wrong = complaint(text, [self.unifier.resolved(item.type).kind for item in values.items])
            if wrong:
                self.report("operands", wrong, values.offset, values.end)

    def check_pattern(self, pattern: Node) -> None:
        """A regular expression that is known now is compiled now."""
        known, value = self.constant(pattern)
        if known and type(value) is str:
            try:
                pattern_search(value)
            except CelError as error:
                self.report("bad-regex", str(error), pattern.offset, pattern.end, "patterns are RE2")

    # comprehensions

    def comprehension(self, node: Comprehension, scope: Scope, guards: Guards) -> Type:
        target = self.unifier.resolved(self.visit(node.target, scope, guards))
        if node.kind in ("optMap", "optFlatMap"):
            return self.optional_map(node, target, scope, guards)
        first, second = self.walked(node, target)
        inner = {**scope, node.first: first}
        guards = guards.without(node.first)
        if node.second:
            inner[node.second] = second
            guards = guards.without(node.second)
        if node.condition is not None:
            self.condition(node.condition, inner, guards, f"the condition of {node.kind}()")
            guards = guards.after(node.condition, True)
        body = self.visit(node.body, inner, guards) if node.body is not None else t.DYN
        bound = target.max_items if target.kind == "list" else None
        if node.kind in ("all", "exists", "exists_one"):
            return t.BOOL
        if node.kind in ("filter", "sortBy"):
            return t.list_of(first, bound)
        if node.kind == "map":
            return t.list_of(body, bound)
        if node.kind == "transformMap":
            return t.map_of(first, body)
        body = self.unifier.resolved(body)
        return body if body.kind == "map" else t.map_of(t.DYN, t.DYN)

    def optional_map(self, node: Comprehension, target: Type, scope: Scope, guards: Guards) -> Type:
        inner = target.params[0] if target.kind == "abstract" and target.params else t.DYN
        assert node.body is not None
        body = self.visit(node.body, {**scope, node.first: inner}, guards.without(node.first))
        return t.abstract("optional_type", body) if node.kind == "optMap" else body

    def walked(self, node: Comprehension, target: Type) -> tuple[Type, Type]:
        """The types of the variables of a comprehension over a target."""
        if target.kind == "list":
            item = target.params[0]
            return (t.INT, item) if node.second else (item, item)
        if target.kind == "map":
            return target.params[0], target.params[1]
        if target.kind == "object":
            return t.STRING, t.DYN
        if target.kind == "var":
            item = self.unifier.fresh()
            self.unifier.assignable(target, t.list_of(item))
            return (t.INT, item) if node.second else (item, item)
        if target.kind not in ("dyn", "error"):
            where = node.target
            message = f"{node.kind}() walks over a list or a map, not {self.show(target)}"
            self.report("operands", message, where.offset, where.end)
        return t.DYN, t.DYN


_BOOLEAN = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "!_"))
