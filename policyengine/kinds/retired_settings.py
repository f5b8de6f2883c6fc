"""RetiredSettings: settings that are no longer obeyed, each with its treatment."""

from __future__ import annotations

import json
from typing import Any

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec
from policyengine.rules.table import Expression, HitPolicy, Outcome, Rule, Table
from policyengine.source.schema import load_schema


def build(kind: Kind, spec: Spec) -> Table:
    """A collecting table with one rule a setting: it matches where the setting is present."""
    rules = []
    for index, row in enumerate(spec.get("settings")):
        path: Path = ("spec", "settings", index)
        steps = row["setting"].split(".")
        access = ["settings" + "".join(f"[{json.dumps(step)}]" for step in steps[:n]) for n in range(len(steps))]
        # A setting on the way may hold anything; only a mapping can hold the next step.
        present = [
            part
            for step, before in zip(steps, access, strict=True)
            for part in ([f"type({before}) == map"] if before != "settings" else [])
            + [f"{json.dumps(step)} in {before}"]
        ]
        when = spec.generated(" && ".join(present), (*path, "setting"))
        literals: dict[str, Any] = {
            name: row[name] for name in ("setting", "treatment", "message", "to") if name in row
        }
        computed: dict[str, Expression] = {}
        if row["treatment"] == "convert":
            value = f"{access[-1]}[{json.dumps(steps[-1])}]"
            computed["value"] = spec.generated(_conversion(value, row["values"]), (*path, "values"))
        rules.append(
            Rule(row["setting"].replace(".", "_"), when, Outcome(literals, computed), spec.document.place(path))
        )
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/retired-settings"),
        rules=spec.unique(rules, ("spec", "settings")),
        default=Outcome(),
        on_error={"matches": []},
        hit=HitPolicy.COLLECT,
    )


def _conversion(value: str, values: list[dict[str, Any]]) -> str:
    """CEL that maps each known value; null, which no setting takes, stands for a value that is not listed."""
    text = "dyn(null)"
    for row in reversed(values):
        text = f"(dyn({value}) == {json.dumps(row['from'])} ? dyn({json.dumps(row['to'])}) : {text})"
    return text


KIND = Kind("RetiredSettings", "Settings that are no longer obeyed", build, {"matches": []})
