"""Calls that are not functions: has, the comprehensions and cel.bind."""

from __future__ import annotations

from policyengine.cel.errors import CelSyntaxError
from policyengine.cel.lexer import fail
from policyengine.cel.syntax import Bind, Call, Comprehension, Ident, ListLit, Node, Select

_ONE = {
    "all": "all",
    "exists": "exists",
    "exists_one": "exists_one",
    "existsOne": "exists_one",
    "filter": "filter",
}
_TWO = {"all": "all", "exists": "exists", "exists_one": "exists_one", "existsOne": "exists_one"}
_TRANSFORMS = {
    "transformList": "map",
    "transformMap": "transformMap",
    "transformMapEntry": "transformMapEntry",
}


def expand(call: Call) -> Node:
    """The node that a macro call stands for; any other call comes back as it is. Raises CelSyntaxError."""
    if call.target is None:
        return _has(call) if call.name == "has" else call
    if call.name == "bind" and isinstance(call.target, Ident) and call.target.name == "cel":
        return _bind(call)
    if call.name in ("greatest", "least") and isinstance(call.target, Ident) and call.target.name == "math":
        if len(call.args) > 2:  # any number of arguments is one list
            items = ListLit(call.args[0].offset, call.args[-1].end, call.args, frozenset())
            call.args = [items]
        return call
    if call.name in ("optMap", "optFlatMap") and len(call.args) == 2:
        name = _variable(call.args[0])
        return Comprehension(call.offset, call.end, call.name, call.target, name, None, None, call.args[1])
    return _comprehension(call)


def _has(call: Call) -> Node:
    argument = call.args[0] if len(call.args) == 1 else None
    if not isinstance(argument, Select) or argument.test:
        raise fail("has() takes one field, such as has(input.name)", call.offset, call.end)
    argument.test = True
    argument.offset, argument.end = call.offset, call.end
    return argument


def _bind(call: Call) -> Node:
    if len(call.args) != 3:
        raise fail("cel.bind() takes a name, its value and an expression", call.offset, call.end)
    return Bind(call.offset, call.end, _variable(call.args[0]), call.args[1], call.args[2])


def _variable(node: Node) -> str:
    if not isinstance(node, Ident) or node.rooted:
        raise _not_a_name(node)
    return node.name


def _not_a_name(node: Node) -> CelSyntaxError:
    return fail("expected a simple name for the variable", node.offset, node.end)


def _comprehension(call: Call) -> Node:
    name, args, target = call.name, call.args, call.target
    assert target is not None
    if name in _ONE and len(args) == 2:
        return Comprehension(call.offset, call.end, _ONE[name], target, _variable(args[0]), None, args[1], None)
    if name == "map" and len(args) in (2, 3):
        condition = args[1] if len(args) == 3 else None
        return Comprehension(call.offset, call.end, "map", target, _variable(args[0]), None, condition, args[-1])
    if name in _TWO and len(args) == 3:
        first, second = _pair(args)
        return Comprehension(call.offset, call.end, _TWO[name], target, first, second, args[2], None)
    if name == "sortBy" and len(args) == 2:
        return Comprehension(call.offset, call.end, "sortBy", target, _variable(args[0]), None, None, args[1])
    if name in _TRANSFORMS and len(args) in (3, 4):
        first, second = _pair(args)
        condition = args[2] if len(args) == 4 else None
        return Comprehension(call.offset, call.end, _TRANSFORMS[name], target, first, second, condition, args[-1])
    return call


def _pair(args: list[Node]) -> tuple[str, str]:
    first, second = _variable(args[0]), _variable(args[1])
    if first == second:
        raise fail("the two variables need different names", args[1].offset, args[1].end)
    return first, second
