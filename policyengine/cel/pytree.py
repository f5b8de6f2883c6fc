"""Building Python's own trees."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any


class Code:
    """Helpers that build Python's trees, and the globals that they refer to."""

    def __init__(self) -> None:
        self.globals: dict[str, Any] = {"__builtins__": {}}
        self._shared: dict[tuple[int, str], str] = {}
        self._count = 0

    def fresh(self, hint: str = "t") -> str:
        """A name that is used nowhere else."""
        self._count += 1
        return f"{hint}{self._count}"

    def shared(self, value: Any, hint: str = "k") -> ast.expr:
        """A reference to a value that the code needs; the same name for the same object."""
        key = (id(value), hint)
        if key not in self._shared:
            name = self.fresh(hint)
            self._shared[key] = name
            self.globals[name] = value
        return name_of(self._shared[key])

    def constant(self, value: Any) -> ast.expr:
        """A constant."""
        if value is None or type(value) in (bool, int, str, bytes) or (type(value) is float and math.isfinite(value)):
            return ast.Constant(value)
        return self.shared(value, "c")

    def call(self, function: Callable[..., Any], *args: ast.expr) -> ast.expr:
        """A call of a Python function."""
        return ast.Call(self.shared(function, getattr(function, "__name__", "f").strip("<>_")), list(args), [])

    def define(self, definition: ast.FunctionDef) -> Callable[..., Any]:
        """Compile a function."""
        module = ast.Module([definition], [])
        _locate(module)
        exec(compile(module, "<policy>", "exec"), self.globals)  # a tree built here, never text
        made: Callable[..., Any] = self.globals[definition.name]
        return made


def _locate(root: ast.AST) -> None:
    """Give every node a line, as `ast.fix_missing_locations` does in twice the time; all the code is one line."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if node._attributes:
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                stack.append(value)
            elif isinstance(value, list):
                stack.extend(value)


def name_of(name: str) -> ast.Name:
    """A read of a Python variable."""
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr) -> ast.NamedExpr:
    """`(name := value)`."""
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def compare(left: ast.expr, op: ast.cmpop, right: ast.expr) -> ast.Compare:
    """`left op right`."""
    return ast.Compare(left, [op], [right])


def is_type(value: ast.expr, kind: str) -> ast.expr:
    """`type(value) is kind`."""
    return compare(ast.Call(name_of("type"), [value], []), ast.Is(), name_of(kind))
