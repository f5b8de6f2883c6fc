"""Names to what they stand for: locals, variables, constants, types, namespaced functions, word lists."""

from __future__ import annotations

from policyengine.cel.environment import TYPE_NAMES, Environment
from policyengine.cel.syntax import (
    Binary,
    Bind,
    Call,
    Comprehension,
    Ident,
    Index,
    ListLit,
    Logic,
    MapLit,
    Node,
    Select,
    Ternary,
    Unary,
    Words,
)

_NO_LOCALS: frozenset[str] = frozenset()


def resolve(node: Node, environment: Environment) -> Node:
    """The tree with every name given its role. The tree is changed in place; the root may be a new node."""
    return _Resolver(environment).visit(node, _NO_LOCALS)


def _path(node: Node) -> list[str] | None:
    """`a.b.c` as its parts, or None when the node is anything else."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test and not node.optional:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    parts.append(("." if node.rooted else "") + node.name)
    return parts[::-1]


class _Resolver:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def visit(self, node: Node, local: frozenset[str]) -> Node:
        if isinstance(node, Ident):
            return self.ident(node, local)
        if isinstance(node, Select):
            return self.select(node, local)
        if isinstance(node, Call):
            return self.call(node, local)
        if isinstance(node, Index):
            node.operand = self.visit(node.operand, local)
            node.index = self.visit(node.index, local)
        elif isinstance(node, Unary):
            node.operand = self.visit(node.operand, local)
        elif isinstance(node, Binary):
            node.left = self.visit(node.left, local)
            node.right = self.visit(node.right, local)
        elif isinstance(node, Logic):
            node.args = [self.visit(arg, local) for arg in node.args]
        elif isinstance(node, Ternary):
            node.condition = self.visit(node.condition, local)
            node.yes = self.visit(node.yes, local)
            node.no = self.visit(node.no, local)
        elif isinstance(node, ListLit):
            node.items = [self.visit(item, local) for item in node.items]
        elif isinstance(node, MapLit):
            node.entries = [(self.visit(key, local), self.visit(value, local)) for key, value in node.entries]
        elif isinstance(node, Comprehension):
            self.comprehension(node, local)
        elif isinstance(node, Bind):
            node.value = self.visit(node.value, local)
            node.body = self.visit(node.body, local | {node.name})
        return node

    def comprehension(self, node: Comprehension, local: frozenset[str]) -> None:
        node.target = self.visit(node.target, local)
        inner = local | {node.first, node.second} if node.second else local | {node.first}
        if node.condition is not None:
            node.condition = self.visit(node.condition, inner)
        if node.body is not None:
            node.body = self.visit(node.body, inner)

    def ident(self, node: Ident, local: frozenset[str]) -> Node:
        if node.name in local and not node.rooted:
            node.role = "local"
        else:
            self.known(node, node.name, node.rooted)
        return node

    def known(self, node: Ident, name: str, rooted: bool) -> bool:
        environment = self.environment
        for candidate in [name] if rooted else environment.candidates(name):
            if candidate in environment.variables:
                node.role = "variable"
            elif candidate in environment.constants:
                node.role = "constant"
            elif candidate == "input" and environment.input is not None:
                node.role = "input"
            elif candidate in TYPE_NAMES:
                node.role = "type"
            else:
                continue
            node.name = candidate
            return True
        return False

    def select(self, node: Select, local: frozenset[str]) -> Node:
        parts = _path(node)
        if parts is not None and parts[0] not in local:
            name = ".".join(parts).removeprefix(".")
            joined = Ident(node.offset, node.end, name)
            if self.known(joined, name, parts[0].startswith(".")):
                return joined
            if len(parts) == 2 and parts[0] == "words" and "words" not in self.environment.variables:
                return Words(node.offset, node.end, parts[1])
        node.operand = self.visit(node.operand, local)
        return node

    def call(self, node: Call, local: frozenset[str]) -> Node:
        functions = self.environment.functions
        if node.target is None:
            rooted = node.name.startswith(".")
            name = node.name.removeprefix(".")
            for candidate in [name] if rooted else self.environment.candidates(name):
                if (candidate, False) in functions:
                    name = candidate
                    break
            node.name = name
        else:
            parts = _path(node.target)
            if parts is not None and parts[0] not in local:
                name = ".".join([*parts, node.name])
                rooted = name.startswith(".")
                for candidate in [name[1:]] if rooted else self.environment.candidates(name):
                    if (candidate, False) in functions:
                        node.name, node.name_offset, node.target = candidate, node.offset, None
                        break
        if node.target is not None:
            node.target = self.visit(node.target, local)
        node.args = [self.visit(arg, local) for arg in node.args]
        return node
