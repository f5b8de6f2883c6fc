"""The parser against cel-python's grammar file: what both read, they read alike."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from policyengine.cel.errors import CelSyntaxError
from policyengine.cel.parser import parse
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
    Select,
    Ternary,
    Unary,
)
from tests.cel import suite
from tests.cel.generate import expressions
from tests.conftest import examples


@lru_cache(maxsize=1)
def grammar():
    """cel-python's grammar, read with lark. celpy itself is not imported: that changes the recursion limit."""
    import lark

    spec = importlib.util.find_spec("celpy")
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip("cel-python is not installed")
    text = (Path(spec.submodule_search_locations[0]) / "cel.lark").read_text("utf-8")
    return lark.Lark(text, parser="lalr", start="expr", maybe_placeholders=False, priority="invert")


def shape_of_lark(tree):
    """A lark tree as nested tuples of operators and leaves, brackets and one-child levels dropped."""
    import lark

    if isinstance(tree, lark.Token):
        return str(tree)
    name, kids = str(tree.data), tree.children
    if name in ("exprlist", "mapinits"):
        return [shape_of_lark(kid) for kid in kids]
    if name == "unary" and len(kids) == 2:
        return (str(kids[0].data), shape_of_lark(kids[1]))
    if name in ("relation", "addition", "multiplication") and len(kids) == 2:
        op = kids[0]
        return (str(op.data), shape_of_lark(op.children[0]), shape_of_lark(kids[1]))
    if name in ("conditionalor", "conditionaland") and len(kids) == 2:
        return (name, shape_of_lark(kids[0]), shape_of_lark(kids[1]))
    if name == "expr" and len(kids) == 3:
        return ("?:", *map(shape_of_lark, kids))
    if name == "literal":
        return "literal"
    if name == "ident" and str(kids[0]) in ("true", "false"):  # cel-python tells these from names after its lexer
        return "literal"
    if name == "member_dot":
        return ("select", shape_of_lark(kids[0]), str(kids[1]))
    if name == "member_dot_arg":
        args = shape_of_lark(kids[2]) if len(kids) > 2 else []
        return ("method", shape_of_lark(kids[0]), str(kids[1]), args)
    if name == "member_index":
        return ("index", shape_of_lark(kids[0]), shape_of_lark(kids[1]))
    if name in ("ident_arg", "dot_ident_arg"):
        return ("call", str(kids[0]), shape_of_lark(kids[1]) if len(kids) > 1 else [])
    if name in ("list_lit", "map_lit"):
        return (name, shape_of_lark(kids[0]) if kids else [])
    return shape_of_lark(kids[0])


_OPS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne", "in": "in"}
_SUMS = {"+": "addition_add", "-": "addition_sub"}
_PRODUCTS = {"*": "mul", "/": "div", "%": "mod"}


def shape_of(node):
    """The same of our tree; macros are put back as the calls that they were."""
    match node:
        case Literal():
            return "literal"
        case Ident():
            return node.name
        case Select(test=True):
            return ("call", "has", [("select", shape_of(node.operand), node.field)])
        case Select():
            return ("select", shape_of(node.operand), node.field)
        case Index():
            return ("index", shape_of(node.operand), shape_of(node.index))
        case Unary():
            return ("unary_not" if node.op == "!" else "unary_neg", shape_of(node.operand))
        case Binary():
            op = node.op
            name = _SUMS.get(op) or (f"multiplication_{_PRODUCTS[op]}" if op in _PRODUCTS else f"relation_{_OPS[op]}")
            return (name, shape_of(node.left), shape_of(node.right))
        case Logic():
            name = "conditionalor" if node.op == "||" else "conditionaland"
            result = shape_of(node.args[0])
            for arg in node.args[1:]:
                result = (name, result, shape_of(arg))
            return result
        case Ternary():
            return ("?:", shape_of(node.condition), shape_of(node.yes), shape_of(node.no))
        case ListLit():
            return ("list_lit", [shape_of(item) for item in node.items])
        case MapLit():
            return ("map_lit", [shape_of(part) for entry in node.entries for part in entry])
        case Bind():
            return ("method", "cel", "bind", [node.name, shape_of(node.value), shape_of(node.body)])
        case Comprehension():
            names = [node.first, node.second] if node.second else [node.first]
            parts = [part for part in (node.condition, node.body) if part is not None]
            return ("method", shape_of(node.target), node.kind, [*names, *map(shape_of, parts)])
        case Call(target=None):
            return ("call", node.name, [shape_of(arg) for arg in node.args])
        case Call():
            args = [shape_of(arg) for arg in node.args]
            only = node.args[0] if len(node.args) == 1 else None
            if isinstance(only, ListLit) and only.items and only.offset == only.items[0].offset:
                args = args[0][1]  # the arguments of math.greatest(a, b, c), put into a list by the parser
            return ("method", shape_of(node.target), node.name, args)
    raise AssertionError(type(node))


def both(text):
    import lark

    try:
        mine = shape_of(parse(text))
    except CelSyntaxError:
        mine = None
    try:
        theirs = shape_of_lark(grammar().parse(text))
    except lark.exceptions.LarkError:
        theirs = None
    return mine, theirs


def normal(shape):
    """Names that macros share, and the sign that is part of a literal for one and an operator for the other."""
    text = repr(shape)
    for name in ("existsOne", "exists_one"):
        text = text.replace(name, "exists_one")
    text = text.replace("transformList", "map").replace("math.", "")
    return text.replace("('unary_neg', 'literal')", "'literal'")


READ_WRONG = {
    # cel-python takes `24.` for a number and `in` for the operator: `24. in dexOf('2')`. The specification wants a
    # digit behind the point.
    "24.indexOf('2') == 0",
}


@pytest.mark.skipif(not suite.cases(), reason=suite.MISSING)
def test_the_suite_is_read_alike():
    different = []
    for case in suite.cases():
        mine, theirs = both(case["expr"])
        if case["expr"] not in READ_WRONG and mine and theirs and normal(mine) != normal(theirs):
            different.append((case["expr"], mine, theirs))
    assert different[:3] == []


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(expressions())
def test_random_expressions_are_read_alike(text):
    mine, theirs = both(text)
    assert mine is not None
    assert theirs is not None
    assert normal(mine) == normal(theirs)
