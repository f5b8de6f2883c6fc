"""Tokens to a tree.

Why not cel-python's own grammar file: building its LALR tables takes 120 ms after 40 ms for importing lark, against
a budget of 500 ms for a whole cold `lint`; it places errors by token only, knows neither quoted fields, optional
syntax nor the reserved words as field names, and takes some strings that the specification does not. This parser starts
in no time and gives character offsets. A test checks that both read what both accept in the same way.

Nesting is counted, so that the parser's own recursion is bounded whatever the text is.
"""

from __future__ import annotations

from policyengine.cel import macros
from policyengine.cel.errors import CelSyntaxError
from policyengine.cel.hints import word_for_operator
from policyengine.cel.lexer import BigInt, Token, fail, tokens, too_large
from policyengine.cel.limits import MAX_DEPTH, MAX_NODES
from policyengine.cel.syntax import (
    Binary,
    Call,
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
)

RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
"""Words that may name a field or a method, but no variable."""

_LEVELS: dict[str, int] = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/%", 5),
}


def parse(text: str) -> Node:
    """Read one expression. Raises CelSyntaxError."""
    parser = _Parser(text)
    node = parser.expression()
    parser.expect("end", "an operator or the end")
    _measure(node)
    return node


def _measure(root: Node) -> None:
    """Refuse trees that are too deep or too large: chains such as `a.b.c...` are deep without nesting brackets."""
    level, depth, count = [root], 0, 0
    while level:
        depth += 1
        count += len(level)
        if depth > MAX_DEPTH:
            raise too_large(f"the expression is nested deeper than {MAX_DEPTH} levels", level[0].offset, level[0].end)
        if count > MAX_NODES:
            raise too_large(f"the expression has more than {MAX_NODES} parts", root.offset, root.end)
        level = [child for node in level for child in node.children()]


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.at = 0
        self.depth = 0

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def accept(self, kind: str) -> Token | None:
        token = self.tokens[self.at]
        if token.kind != kind:
            return None
        self.at += 1
        return token

    def expect(self, kind: str, what: str) -> Token:
        token = self.tokens[self.at]
        if token.kind != kind:
            raise self.unexpected(token, what)
        self.at += 1
        return token

    def unexpected(self, token: Token, what: str) -> CelSyntaxError:
        if token.kind == "end":
            return fail(f"the expression ends where {what} is expected", token.offset, token.end)
        before = self.tokens[self.tokens.index(token) - 1]
        hint = word_for_operator(token.value) if token.kind == "name" else None
        if hint is None and before.kind == "name" and before.end < token.offset:
            hint = word_for_operator(before.value)
        seen = "a literal" if token.kind == "literal" else f"{token.value!r}"
        return fail(f"unexpected {seen}, expected {what}", token.offset, token.end, hint)

    def expression(self) -> Node:
        node = self.binary(1)
        steps: list[tuple[Node, Node]] = []
        while self.accept("?"):
            steps.append((node, self.binary(1)))
            self.expect(":", "':' of the conditional")
            node = self.binary(1)
        for condition, yes in reversed(steps):
            node = Ternary(condition, yes, node)
        return node

    def binary(self, lowest: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            token = self.tokens[self.at]
            raise too_large(f"the expression is nested deeper than {MAX_DEPTH} levels", token.offset, token.end)
        node = self.operators(lowest)
        self.depth -= 1
        return node

    def operators(self, lowest: int) -> Node:
        left = self.unary()
        while True:
            token = self.tokens[self.at]
            level = _LEVELS.get(token.kind, 0)
            if level < lowest:
                return left
            self.at += 1
            right = self.binary(level + 1)
            if level > 2:
                left = Binary(token.kind, token.offset, left, right)
            elif isinstance(left, Logic) and left.op == token.kind and not left.closed:
                left.args.append(right)
                left.end = right.end
            else:
                left = Logic(token.kind, [left, right])

    def unary(self) -> Node:
        signs: list[Token] = []
        while self.tokens[self.at].kind in ("!", "-"):
            signs.append(self.take())
        if len({sign.kind for sign in signs}) > 1:
            raise fail("'!' and '-' cannot be mixed", signs[0].offset, signs[-1].end)
        if len(signs) > MAX_DEPTH:
            raise too_large(f"the expression is nested deeper than {MAX_DEPTH} levels", signs[0].offset, signs[-1].end)
        token = self.tokens[self.at]
        negative: Token | None = None
        if signs and signs[-1].kind == "-" and token.kind == "literal" and type(token.value) in (int, float, BigInt):
            negative = signs.pop()  # a sign directly before a number belongs to the literal
        node = self.member(negative)
        for sign in reversed(signs):
            node = Unary(sign.offset, node.end, sign.kind, node)
        return node

    def member(self, negative: Token | None) -> Node:
        node = self.primary(negative)
        while True:
            token = self.tokens[self.at]
            if token.kind == ".":
                self.at += 1
                optional = self.accept("?") is not None
                name = self.tokens[self.at]
                if name.kind not in ("name", "quoted"):
                    raise self.unexpected(name, "a field name")
                self.at += 1
                if self.tokens[self.at].kind == "(" and name.kind == "name" and not optional:
                    self.at += 1
                    args = self.arguments(")")
                    end = self.tokens[self.at - 1].end
                    node = macros.expand(Call(node.offset, end, name.value, name.offset, node, args))
                else:
                    node = Select(node.offset, name.end, node, name.value, name.offset, optional)
            elif token.kind == "[":
                self.at += 1
                optional = self.accept("?") is not None
                index = self.expression()
                end = self.expect("]", "']'").end
                node = Index(node.offset, end, node, index, optional)
            elif token.kind == "{" and isinstance(node, (Ident, Select)):
                raise fail("message types are not known here", node.offset, token.end, "write a map: {'key': value}")
            else:
                return node

    def arguments(self, closing: str) -> list[Node]:
        args: list[Node] = []
        while not self.accept(closing):
            if args:
                self.expect(",", f"',' or '{closing}'")
            args.append(self.expression())
        return args

    def primary(self, negative: Token | None) -> Node:
        token = self.take()
        kind = token.kind
        if kind == "literal":
            return self.literal(token, negative)
        if kind == "name" or kind == ".":
            return self.name(token)
        if kind == "(":
            node = self.expression()
            self.expect(")", "')'")
            if isinstance(node, Logic):  # `(a && b) && c` stays two nodes, so that places are those of the text
                node.closed = True
            return node
        if kind == "[":
            return self.list_literal(token)
        if kind == "{":
            return self.map_literal(token)
        raise self.unexpected(token, "a value")

    @staticmethod
    def literal(token: Token, negative: Token | None) -> Node:
        value, offset = token.value, token.offset
        if negative:
            value, offset = -value, negative.offset
        elif isinstance(value, BigInt):
            raise fail("integer literal out of range: 64 bits", token.offset, token.end)
        return Literal(offset, token.end, int(value) if isinstance(value, BigInt) else value)

    def name(self, token: Token) -> Node:
        rooted = token.kind == "."
        name = self.expect("name", "a name") if rooted else token
        if name.value in RESERVED:
            raise fail(f"{name.value!r} is a reserved word", name.offset, name.end)
        if self.accept("("):
            args = self.arguments(")")
            end = self.tokens[self.at - 1].end
            full = f".{name.value}" if rooted else name.value
            return macros.expand(Call(token.offset, end, full, name.offset, None, args))
        return Ident(token.offset, name.end, name.value, rooted)

    def list_literal(self, opening: Token) -> Node:
        items: list[Node] = []
        optional: set[int] = set()
        while not self.accept("]"):
            if items:
                self.expect(",", "',' or ']'")
                if self.accept("]"):  # a trailing comma
                    break
            if self.accept("?"):
                optional.add(len(items))
            items.append(self.expression())
        return ListLit(opening.offset, self.tokens[self.at - 1].end, items, frozenset(optional))

    def map_literal(self, opening: Token) -> Node:
        entries: list[tuple[Node, Node]] = []
        optional: set[int] = set()
        while not self.accept("}"):
            if entries:
                self.expect(",", "',' or '}'")
                if self.accept("}"):
                    break
            if self.accept("?"):
                optional.add(len(entries))
            key = self.expression()
            self.expect(":", "':' and a value")
            entries.append((key, self.expression()))
        return MapLit(opening.offset, self.tokens[self.at - 1].end, entries, frozenset(optional))
