"""Directives: whether the model round after a batch may be skipped, by what each tool declares."""

from __future__ import annotations

import json
from dataclasses import replace

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec
from policyengine.rules.table import Expression, Table

_FIELDS = {"skip_llm_round": "skip", "result_is_terminal": "terminal"}


def build(kind: Kind, spec: Spec) -> Table:
    """A table whose derived values `skip_all` and `terminal_all` ask every call of the batch by the tool table."""
    derived: dict[str, Expression] = {}
    for field, short in _FIELDS.items():
        names = []
        for name, group, path in _groups(spec):
            derived[f"{short}_{name}"] = spec.wrapped(f"batch.all(call, !({group}) || (", (*path, field), "))")
            names.append(f"{short}_{name}")
        derived[f"{short}_all"] = spec.generated(f"batch.size() > 0 && {' && '.join(names)}", ("spec", "tools"))
    table = plain.build(kind, spec)
    return replace(table, derived={**table.derived, **derived})


def _groups(spec: Spec) -> list[tuple[str, str, Path]]:
    """Each group of tools: a name, the condition under which a call belongs to it, and where it is written."""
    groups = []
    listed: list[str] = []
    for index, row in enumerate(spec.get("tools")):
        tools = json.dumps(row["tools"], ensure_ascii=False)
        groups.append((f"tools_{index}", f"!call.mcp && call.tool in {tools}", ("spec", "tools", index)))
        listed += row["tools"]
    others = f"!call.mcp && !(call.tool in {json.dumps(listed, ensure_ascii=False)})"
    return [
        *groups,
        ("mcp", "call.mcp", ("spec", "mcp")),
        ("otherwise", others, ("spec", "otherwise")),
    ]


KIND = Kind(
    "Directives",
    "Whether the model round after a batch may be skipped",
    build,
    {"directive": "continue", "terminal": False, "reason": "error"},
)
