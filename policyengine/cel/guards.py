"""What is known to be present where an expression is read: `has(input.x) && input.x > 1`."""

from __future__ import annotations

from policyengine.cel.syntax import Ident, Logic, Node, Select, Unary


def path_of(node: Node) -> str | None:
    """A chain of fields as text, the whole input's properties always as `input.NAME`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, Select):
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    root = f"input.{node.name}" if node.role == "variable" else node.name
    return ".".join([root, *reversed(parts)])


class Guards:
    """The paths that are known to be present. Immutable."""

    __slots__ = ("paths",)

    def __init__(self, paths: frozenset[str] = frozenset()) -> None:
        self.paths = paths

    def __contains__(self, path: str) -> bool:
        return path in self.paths

    def after(self, condition: Node, holds: bool) -> Guards:
        """What is known once a condition is known to hold, or not to hold."""
        found = frozenset(_proved(condition, holds))
        return Guards(self.paths | found) if found else self

    def without(self, name: str) -> Guards:
        """What stays known where a local variable of that name begins."""
        return Guards(frozenset(path for path in self.paths if path.split(".")[0] != name))


def _proved(node: Node, holds: bool) -> list[str]:
    if isinstance(node, Unary) and node.op == "!":
        return _proved(node.operand, not holds)
    if isinstance(node, Logic) and (node.op == "&&") is holds:
        return [path for arg in node.args for path in _proved(arg, holds)]
    if holds and isinstance(node, Select) and node.test:
        path = path_of(node)
        return [path] if path else []
    return []
