"""The tree of an expression.

Every node knows where it starts and ends in the text (characters). The checker fills in `type`.
Comprehensions and `cel.bind` have nodes of their own instead of the general fold of other implementations:
they compile to Python's own comprehensions, and their cost can be told from their shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.cel.types import DYN, Type


class Node:
    """Base of all nodes."""

    __slots__ = ("end", "offset", "type")

    def __init__(self, offset: int, end: int) -> None:
        self.offset = offset
        self.end = end
        self.type: Type = DYN

    def children(self) -> tuple[Node, ...]:
        """The nodes directly below."""
        return ()


class Literal(Node):
    """A constant."""

    __slots__ = ("value",)

    def __init__(self, offset: int, end: int, value: Any) -> None:
        super().__init__(offset, end)
        self.value = value


class Ident(Node):
    """A name: a variable, a constant, a type, or a local variable of a comprehension.

    The resolver joins qualified names (`a.b` where a variable has that name) into one Ident.
    """

    __slots__ = ("name", "role", "rooted")

    def __init__(self, offset: int, end: int, name: str, rooted: bool = False) -> None:
        super().__init__(offset, end)
        self.name = name
        self.rooted = rooted
        self.role = "unknown"
        """local, variable, constant, input (the whole input), type, or unknown."""


class Select(Node):
    """`operand.field`, or with `test` the macro `has(operand.field)`."""

    __slots__ = ("field", "field_offset", "operand", "optional", "test")

    def __init__(self, offset: int, end: int, operand: Node, field: str, field_offset: int, optional: bool) -> None:
        super().__init__(offset, end)
        self.operand = operand
        self.field = field
        self.field_offset = field_offset
        self.optional = optional
        self.test = False

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.operand,)


class Index(Node):
    """`operand[index]`."""

    __slots__ = ("index", "operand", "optional")

    def __init__(self, offset: int, end: int, operand: Node, index: Node, optional: bool) -> None:
        super().__init__(offset, end)
        self.operand = operand
        self.index = index
        self.optional = optional

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.operand, self.index)


class Call(Node):
    """`name(args)` or `target.name(args)`."""

    __slots__ = ("args", "name", "name_offset", "overload", "target")

    def __init__(
        self, offset: int, end: int, name: str, name_offset: int, target: Node | None, args: list[Node]
    ) -> None:
        super().__init__(offset, end)
        self.name = name
        self.name_offset = name_offset
        self.target = target
        self.args = args
        self.overload: Any = None
        """The one overload that fits the static types, when exactly one does."""

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.target, *self.args) if self.target is not None else tuple(self.args)


class Unary(Node):
    """`!x` or `-x`."""

    __slots__ = ("op", "operand")

    def __init__(self, offset: int, end: int, op: str, operand: Node) -> None:
        super().__init__(offset, end)
        self.op = op
        self.operand = operand

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.operand,)


class Binary(Node):
    """Arithmetic, comparison, equality and `in`."""

    __slots__ = ("left", "op", "op_offset", "right")

    def __init__(self, op: str, op_offset: int, left: Node, right: Node) -> None:
        super().__init__(left.offset, right.end)
        self.op = op
        self.op_offset = op_offset
        self.left = left
        self.right = right

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.left, self.right)


class Logic(Node):
    """A chain of `&&` or of `||`: one node however long, so that a long chain is not deep.

    `closed` marks a chain in brackets, which a chain around it does not swallow.
    """

    __slots__ = ("args", "closed", "op")

    def __init__(self, op: str, args: list[Node]) -> None:
        super().__init__(args[0].offset, args[-1].end)
        self.op = op
        self.args = args
        self.closed = False

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return tuple(self.args)


class Ternary(Node):
    """`condition ? yes : no`."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Node, yes: Node, no: Node) -> None:
        super().__init__(condition.offset, no.end)
        self.condition = condition
        self.yes = yes
        self.no = no

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.condition, self.yes, self.no)


class ListLit(Node):
    """`[a, ?b]`; `optional` holds the positions marked with `?`."""

    __slots__ = ("items", "optional")

    def __init__(self, offset: int, end: int, items: list[Node], optional: frozenset[int]) -> None:
        super().__init__(offset, end)
        self.items = items
        self.optional = optional

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return tuple(self.items)


class MapLit(Node):
    """`{a: b, ?c: d}`."""

    __slots__ = ("entries", "optional")

    def __init__(self, offset: int, end: int, entries: list[tuple[Node, Node]], optional: frozenset[int]) -> None:
        super().__init__(offset, end)
        self.entries = entries
        self.optional = optional

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return tuple(part for entry in self.entries for part in entry)


class Comprehension(Node):
    """One of all, exists, exists_one, filter, map, transformMap, transformMapEntry.

    With one variable it walks over items (keys of a map); with two over index and item (key and value).
    `condition` is the test of all, exists, exists_one and filter, and the optional filter of the others, whose result
    is `body`.
    """

    __slots__ = ("body", "condition", "first", "kind", "second", "target")

    def __init__(
        self,
        offset: int,
        end: int,
        kind: str,
        target: Node,
        first: str,
        second: str | None,
        condition: Node | None,
        body: Node | None,
    ) -> None:
        super().__init__(offset, end)
        self.kind = kind
        self.target = target
        self.first = first
        self.second = second
        self.condition = condition
        self.body = body

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return tuple(part for part in (self.target, self.condition, self.body) if part is not None)


class Bind(Node):
    """`cel.bind(name, value, body)`."""

    __slots__ = ("body", "name", "value")

    def __init__(self, offset: int, end: int, name: str, value: Node, body: Node) -> None:
        super().__init__(offset, end)
        self.name = name
        self.value = value
        self.body = body

    def children(self) -> tuple[Node, ...]:  # noqa: D102
        return (self.value, self.body)


class Words(Node):
    """A word list of the policy, `words.NAME`; only `text.mentions()` takes one."""

    __slots__ = ("name",)

    def __init__(self, offset: int, end: int, name: str) -> None:
        super().__init__(offset, end)
        self.name = name


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children()))
