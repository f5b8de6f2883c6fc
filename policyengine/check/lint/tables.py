"""Tables whose conditions a person wrote, and where those stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.check.lint.context import Context
from policyengine.kinds.policy import Policy
from policyengine.rules.table import Expression, Rule
from policyengine.source.place import Place

GENERATED = ("Ladder", "Tips", "ModelCatalogue", "ToolCatalogue", "RetiredSettings")
"""Kinds that generate their conditions; they have rules of their own about what was written."""


def hand_written(context: Context) -> Iterator[Policy]:
    """The policies whose conditions were written as such."""
    return (policy for policy in context.policies.values() if policy.kind.name not in GENERATED)


def when_place(policy: Policy, rule: Rule) -> Place:
    """The place of a rule's condition; of the rule where it has none."""
    if rule.when is None or rule.when.generated:
        return rule.place
    return policy.document.place(rule.when.path)


def expressions(policy: Policy) -> Iterator[Expression]:
    """Every expression that a person wrote in a policy."""
    table = policy.table
    parts: list[Expression | None] = [
        *table.derived.values(),
        *table.outputs.values(),
        *table.default.computed.values(),
    ]
    for rule in table.rules:
        parts += [rule.when, *rule.outcome.computed.values()]
    seen: set[tuple[str | int, ...]] = set()
    for part in parts:
        if part is not None and not part.generated and part.path not in seen:
            seen.add(part.path)
            yield part


def sample(schema: Any) -> Any:
    """Some value that a JSON Schema allows, as far as its simple keywords say; its first example where it has one."""
    if not isinstance(schema, dict):
        return None
    if schema.get("examples"):
        return schema["examples"][0]
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return {name: sample(part) for name, part in schema.get("properties", {}).items()}
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"string": "", "boolean": False, "array": []}.get(str(kind))
