"""The build step of kinds whose `spec` is a table as it stands."""

from __future__ import annotations

from typing import Any

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Spec
from policyengine.rules.table import Table
from policyengine.source.schema import load_schema


def build(kind: Kind, spec: Spec) -> Table:
    """A table from `constants`, `derived`, `rules`, `default` and `on_error`, over the kind's own input schema."""
    return build_over(kind, spec, load_schema(f"inputs/{kind.file}"))


def build_over(kind: Kind, spec: Spec, input_schema: dict[str, Any]) -> Table:
    """The same over a given input schema."""
    last, default = spec.default()
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=input_schema,
        rules=spec.unique([*spec.rules(), *last], ("spec", "rules")),
        default=default,
        on_error=spec.get("on_error", kind.on_error) or {},
        hit=spec.hit(),
        constants=spec.constants(),
        words=spec.words,
        derived=spec.derived(),
    )
