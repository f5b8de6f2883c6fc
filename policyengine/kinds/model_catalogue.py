"""ModelCatalogue: what is known about models, and how providers count."""

from __future__ import annotations

import json

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec, SpecError
from policyengine.rules.table import Outcome, Rule, Table
from policyengine.source.schema import load_schema

FIELDS = (
    "provider",
    "family",
    "window",
    "max_input",
    "max_output",
    "thinking",
    "thinking_off",
    "thinking_lowest",
    "thinking_headroom",
    "output_cap",
    "tool_choice_none",
    "cache",
    "pinned",
)
"""What a listed model may say about itself; whatever it leaves out is unknown."""

UNKNOWN = {"known": False, "id": None, **dict.fromkeys(FIELDS)}


def build(kind: Kind, spec: Spec) -> Table:
    """A table with one rule a model: its id or one of its aliases."""
    rules = []
    taken: dict[str, str] = {}
    for index, model in enumerate(spec.get("models")):
        path: Path = ("spec", "models", index)
        names = [model["id"], *model.get("aliases", ())]
        for name in model.get("moving_aliases", ()):
            if name not in names:
                raise SpecError(f"`{name}` is no alias of `{model['id']}`", (*path, "moving_aliases"))
        for name in names:
            if name in taken:
                raise SpecError(f"the model name `{name}` already belongs to `{taken[name]}`", (*path, "id"))
            taken[name] = model["id"]
        when = spec.generated(f"model in {json.dumps(names, ensure_ascii=False)}", path)
        known = {"known": True, "id": model["id"], **{field: model.get(field) for field in FIELDS}}
        rules.append(Rule(_rule_id(model["id"]), when, Outcome(known), spec.document.place(path)))
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/model-catalogue"),
        rules=spec.unique(rules, ("spec", "models")),
        default=Outcome(UNKNOWN),
        on_error=spec.get("on_error", UNKNOWN),
    )


def _rule_id(model: str) -> str:
    return "model_" + "".join(c if c.isalnum() else "_" for c in model)


KIND = Kind("ModelCatalogue", "What is known about models", build, UNKNOWN)
