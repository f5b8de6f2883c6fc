"""ToolCatalogue: what a tool call does, whatever the agent calls the tool."""

from __future__ import annotations

import json

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec
from policyengine.rules.table import Expression, Outcome, Rule, Table
from policyengine.source.schema import load_schema

_CONSERVATIVE = {"tool": "unknown", "kind": "execute", "mcp": False, "listed": False}


def build(kind: Kind, spec: Spec) -> Table:
    """A first-hit table: MCP by prefix, then single plain shell commands, then the tools by name."""
    rules = []
    unlisted = {"tool": spec.generated("name", ("spec",))}
    if prefix := spec.get("mcp_prefix"):
        when = spec.generated(f"name.startsWith({json.dumps(prefix)})", ("spec", "mcp_prefix"))
        outcome = Outcome({"kind": "other", "mcp": True, "listed": False}, unlisted)
        rules.append(Rule("mcp", when, outcome, spec.document.place(("spec", "mcp_prefix"))))
    compound = json.dumps(spec.get("compound", ""), ensure_ascii=False)
    derived: dict[str, Expression] = {
        "plain": spec.generated(
            f"command != null && !command.matches({compound})" if spec.get("compound") else "command != null",
            ("spec", "compound"),
        )
    }
    for index, row in enumerate(spec.get("commands", ())):
        path: Path = ("spec", "commands", index)
        pattern = json.dumps(f"^(?:{row['matches']})$", ensure_ascii=False)
        when = spec.generated(f"plain && command.matches({pattern})", (*path, "matches"))
        rules.append(_row(spec, f"command_{row['tool']}", when, row, path))
    for index, row in enumerate(spec.get("tools")):
        path = ("spec", "tools", index)
        when = spec.generated(f"name in {json.dumps(row['names'], ensure_ascii=False)}", (*path, "names"))
        rules.append(_row(spec, row["tool"], when, row, path))
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/tool-catalogue"),
        rules=spec.unique(rules, ("spec", "tools")),
        default=Outcome({"kind": "other", "mcp": False, "listed": False}, unlisted),
        on_error=_CONSERVATIVE,
        derived=derived,
    )


def _row(spec: Spec, rule_id: str, when: Expression, row: dict[str, str], path: Path) -> Rule:
    outcome = Outcome({"tool": row["tool"], "kind": row["kind"], "mcp": False, "listed": True})
    return Rule(rule_id, when, outcome, spec.document.place(path))


KIND = Kind("ToolCatalogue", "What a tool call does", build, _CONSERVATIVE)
