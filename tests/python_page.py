"""docs/python.md, made from docstrings: `python -m tests.python_page --write` writes it, a test checks it."""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
PACKAGES = ("policyengine", "policyengine.runtime", "policyengine.log", "policyengine.cel")

MADE_BY = {
    "Policy": "Bundle.policy",
    "Reloader": "Adapter.reloader",
    "Rollout": "Adapter.rollout",
    "Session": "Adapter.session",
}
"""Classes that nobody makes oneself."""
INTERNAL = {
    "Adapter": ("live", "now_ms"),
    "BatchCall": ("as_input", "as_routed"),
    "Bundle": ("find",),
    "LoopState": ("breaker_input",),
    "Policy": ("table", "compiled", "document"),
    "Sizes": ("as_input",),
}
"""Members for the package itself; they may change at any time."""

_HEAD = """\
# Python

Made from docstrings by `python -m tests.python_page --write`.

Everything that is public is on this page: what `policyengine`, `policyengine.runtime`, `policyengine.log` and
`policyengine.cel` name in their `__all__`, with the members that are named here. All else is internal and may change
at any time. Names are imported when they are first used, so that `import policyengine` costs nothing.

Three rules hold everywhere:

- A mistake of the program is an `InputError` at once, where something is made or called: one line that says what was
  given and what is expected. It holds no prompt and no argument.
- Deciding never raises. An input that the policy's input schema does not allow ends in the policy's `on_error`
  outcome, and `decision.errors` says where it is wrong; so does an expression that cannot be evaluated.
- Whatever goes wrong beside a running agent (a policy, the state store, the log, the fast model) ends in the
  conservative decision and in an event, and the loop goes on.

All errors are `PolicyEngineError`; `str()` of one is one line.

[runtime.md](runtime.md) shows the adapter and the `Advisor` in use, [log.md](log.md) decision records,
[providers.md](providers.md) providers, [cel.md](cel.md) expressions.
"""


def names(package: str) -> list[str]:
    """The public names of a package, in the order of the page."""
    return sorted(importlib.import_module(package).__all__, key=str.lower)


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for package in PACKAGES:
        module = importlib.import_module(package)
        lines.append(f"## `{package}`\n")
        lines.append(_text(module) + "\n") if package != "policyengine" else None
        for name in names(package):
            lines += _entry(name, getattr(module, name))
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if isinstance(value, str):
        yield "The version of the installed package.\n"
    elif inspect.isclass(value):
        yield from _class(name, value)
    elif inspect.isfunction(value):
        yield f"```python\n{_signature(name, value)}\n```\n\n{_text(value)}\n"
    else:
        yield f"One of {', '.join(f'`{one.__name__}`' for one in typing.get_args(value))}.\n"


def _class(name: str, value: type) -> Iterator[str]:
    if issubclass(value, enum.Enum):
        told = attributes(value)
        yield f"{_text(value)}\n"
        yield "\n".join(f"- `{name}.{one.name}` (`{one.value}`){_after(told.get(one.name))}" for one in value) + "\n"
        return
    if issubclass(value, BaseException):
        yield f"```python\nclass {name}({value.__bases__[0].__name__})\n```\n"
    elif name in MADE_BY and not dataclasses.is_dataclass(value):
        yield f"Given by `{MADE_BY[name]}`.\n"
    elif not getattr(value, "_is_protocol", False) and not issubclass(value, int):
        yield f"```python\nclass {_signature(name, value)}\n```\n"
    yield f"{_text(value)}\n"
    rows = list(_members(value))
    if rows:
        yield "Members:\n\n" + "\n".join(rows) + "\n"


def _members(value: type) -> Iterator[str]:
    """One list item a field, property and method that is not told by the signature already."""
    for name, told in attributes(value).items():
        yield f"- `{name}`{_after(told)}"
    for name, member in members(value):
        if isinstance(member, property):
            kind = _shown(typing.cast(Any, member.fget).__annotations__.get("return", ""))
            yield f"- `{name}: {kind}`{_after(_text(member))}"
        else:
            function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            drop = 0 if isinstance(member, staticmethod) else 1
            yield _method(name, function, drop)


def _method(name: str, function: Any, drop: int) -> str:
    prefix = "await " if inspect.iscoroutinefunction(function) else ""
    line = _line(name, function, drop)
    if len(line) <= 100:
        return f"- `{prefix}{line}`{_after(_text(function))}"
    block = f"```python\n{prefix}{_signature(name, function, drop)}\n```\n\n{_text(function)}"
    return f"- `{name}`\n\n{textwrap.indent(block, '  ')}\n"


def members(value: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class, its own and those of its bases here."""
    found: dict[str, Any] = {}
    for cls in reversed(value.__mro__):
        if not cls.__module__.startswith("policyengine"):
            continue
        for name, member in vars(cls).items():
            if name.startswith("_") or name in INTERNAL.get(value.__name__, ()):
                continue
            if inspect.isfunction(member) or isinstance(member, (property, classmethod, staticmethod)):
                found[name] = member
            elif hasattr(member, "func") and hasattr(member, "attrname"):  # a cached property
                found[name] = property(member.func)
    return sorted(found.items(), key=lambda item: not isinstance(item[1], property))


def attributes(value: type) -> dict[str, str]:
    """What stands below attributes: in the class, and in `__init__`."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    except (OSError, TypeError):
        return {}
    assert isinstance(tree, ast.ClassDef)
    bodies = [tree.body]
    bodies += [node.body for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    found: dict[str, str] = {}
    for body in bodies:
        for node, after in pairwise(body):
            name = _target(node)
            if (
                name
                and not name.startswith("_")
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[name] = inspect.cleandoc(ast.literal_eval(typing.cast(ast.Expr, after).value))
    return found


def _target(node: ast.stmt) -> str | None:
    target = (
        node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
    )
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else None


def _signature(name: str, function: Any, drop: int = 0) -> str:
    """A signature, one parameter a line where one line is too long."""
    line = _line(name, function, drop)
    if len(line) <= 100:
        return line
    parts = _parts(function, drop)
    inside = "\n".join(f"    {part}," for part in parts)
    return f"{name}(\n{inside}\n){_returned(function)}"


def _line(name: str, function: Any, drop: int = 0) -> str:
    return f"{name}({', '.join(_parts(function, drop))}){_returned(function)}"


def _returned(function: Any) -> str:
    if inspect.isclass(function) or getattr(function, "__name__", "") == "__init__":
        return ""
    returned = inspect.signature(function).return_annotation
    return "" if returned is inspect.Signature.empty else f" -> {_shown(returned)}"


def _parts(function: Any, drop: int) -> list[str]:
    found: list[str] = []
    star = False
    shown = list(inspect.signature(function).parameters.values())
    for one in shown[0 if inspect.isclass(function) else drop :]:
        if one.kind is one.KEYWORD_ONLY and not star:
            found.append("*")
            star = True
        star = star or one.kind is one.VAR_POSITIONAL
        mark = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        text = f"{mark}{one.name}"
        if one.annotation is not one.empty:
            text += f": {_shown(one.annotation)}"
        if one.default is not one.empty:
            text += f" = {_default(one.default)}"
        found.append(text)
    return found


def _default(value: Any) -> str:
    if inspect.isfunction(value) or type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
        return "..."
    return repr(value) if isinstance(value, (str, int, float, bool, tuple, type(None))) else "..."


def _shown(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation.replace('"', "")
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _text(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _after(text: str | None) -> str:
    """Text after the head of a list item, its further lines indented below it."""
    return "" if not text else ": " + textwrap.indent(text, "  ").strip()


def public() -> Iterator[tuple[str, str, Any]]:
    """Every public name: package, name, value."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in names(package):
            yield package, name, getattr(module, name)


def is_alias(value: Any) -> bool:
    """Whether a public name stands for a union of types."""
    return isinstance(value, types.UnionType) or typing.get_origin(value) is typing.Union


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    sys.exit(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page())
