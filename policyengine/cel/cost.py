"""Worst-case steps of an expression, told from its shape and the declared `maxItems`."""

from __future__ import annotations

from policyengine.cel.syntax import Binary, Bind, Comprehension, ListLit, MapLit, Node
from policyengine.cel.types import Type


def bound_of(node: Node) -> int | None:
    """The most items that a list can have, when that is known before."""
    if isinstance(node, ListLit):
        return len(node.items)
    if isinstance(node, MapLit):
        return len(node.entries)
    kind: Type = node.type
    return kind.max_items if kind.kind == "list" else None


def static_cost(node: Node) -> int:
    """Steps of one evaluation at worst; a list without a bound counts as one item and is budgeted while running."""
    if isinstance(node, Comprehension):
        inner = sum(static_cost(part) for part in (node.condition, node.body) if part is not None)
        walked = bound_of(node.target)
        return 1 + static_cost(node.target) + (1 if walked is None else walked) * inner
    own = 1
    if isinstance(node, Binary) and node.op == "in":
        own = bound_of(node.right) or 1
    if isinstance(node, Bind):
        return own + static_cost(node.value) + static_cost(node.body)
    return own + sum(static_cost(child) for child in node.children())
