"""What a static type guarantees about a value, and how a value from outside is made to keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policyengine.cel import support
from policyengine.cel.syntax import Ident, Node, Select
from policyengine.cel.types import DYN, Type

SCALARS = frozenset(("string", "int", "double", "bool", "bytes", "null"))


def exact(kind: Type) -> bool:
    """Whether a value of that static type is certainly of that Python type."""
    return kind.kind not in ("dyn", "var", "error", "abstract", "type", "uint") and not kind.nullable


def light(kind: Type) -> bool:
    """Whether comparing a value of that type takes no longer than its length tells."""
    return kind.kind in SCALARS or kind.kind == "words" or (kind.kind == "list" and kind.params[0].kind in SCALARS)


def unlooked(node: Node) -> bool:
    """Whether a value is known only by what its list was declared to hold."""
    if node.type.kind not in ("object", "map"):
        return False
    return not (isinstance(node, Select) or (isinstance(node, Ident) and node.role in ("variable", "input")))


def fits(kind: Type, param: Type) -> bool:
    """Whether a value of a static type certainly fits a parameter, as the call by value would judge."""
    if param.kind in ("dyn", "var"):
        return kind.kind != "words"
    if param.kind == "words":
        return kind.kind == "words"
    return kind.kind == param.kind and kind.kind != "uint"


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "string": support.checked_string,
    "int": support.checked_int,
    "double": support.checked_double,
    "bool": support.checked_bool,
    "map": support.checked_dict,
    "object": support.checked_dict,
}


def checker_of(kind: Type) -> Callable[[Any], Any] | None:
    """A function that looks at a value of a declared type, or None where any value will do."""
    check = _CHECKS.get(kind.kind)
    if kind.kind == "list":
        check = support.list_checker(checker_of(_inside(kind.params[0])), kind.max_items)
    if check is None:
        return None
    return support.or_null(check) if kind.nullable else check


def _inside(item: Type) -> Type:
    """What of the items of a list is looked at with the list: objects are looked at field by field, later."""
    return DYN if item.kind in ("object", "map", "var") else item
