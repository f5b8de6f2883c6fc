"""A field that its schema calls deprecated."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.cel.errors import CelSyntaxError
from policyengine.cel.parser import parse
from policyengine.cel.syntax import Ident, Node, Select, walk
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.schemas import deprecated_keys
from policyengine.check.lint.tables import expressions
from policyengine.kinds.policy import Policy
from policyengine.kinds.registry import KINDS
from policyengine.source.finding import Severity
from policyengine.source.schema import load_schema


def check(context: Context) -> Iterator[Hit]:
    """Keys of documents, and input fields that expressions read."""
    for document in context.documents:
        file = KINDS[document.data["kind"]].file
        for path, advice in deprecated_keys(document.data, load_schema(file), file):
            yield Hit(document.key_place(path), f"`{path[-1]}` is deprecated", advice)
    for policy in context.policies.values():
        yield from _inputs(policy)


def _inputs(policy: Policy) -> Iterator[Hit]:
    properties = policy.input_schema.get("properties", {})
    old = {name: part for name, part in properties.items() if isinstance(part, dict) and part.get("deprecated") is True}
    if not old:
        return
    for expression in expressions(policy):
        try:
            nodes = list(walk(parse(expression.text)))
        except CelSyntaxError:
            continue
        for node in nodes:
            name = _input_name(node)
            if name in old and not (name in policy.table.derived and isinstance(node, Ident)):
                offset = node.offset - expression.prefix
                place = policy.document.place_in(expression.path, offset, node.end - node.offset)
                yield Hit(place, f"the input field `{name}` is deprecated", old[name].get("description"))


def _input_name(node: Node) -> str | None:
    if isinstance(node, Select) and isinstance(node.operand, Ident) and node.operand.name == "input":
        return node.field
    return node.name if isinstance(node, Ident) else None


RULE = Rule(
    code="deprecated-field",
    title="A deprecated field is used",
    why="""\
A field that its schema marks `deprecated: true` will go; the description beside the mark says what to use.
""",
    bad="""\
input:
  type: object
  properties:
    size: {type: integer, deprecated: true, description: use tokens}
  required: [size]
rules:
  - {id: large, when: size > 1000}
""",
    good="""\
rules:
  - {id: large, when: tokens > 1000}
""",
    severity=Severity.WARNING,
    check=check,
)
