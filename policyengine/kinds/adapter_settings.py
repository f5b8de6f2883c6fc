"""AdapterSettings: texts and numbers of the runtime adapter. It decides nothing; it is asked like every policy."""

from __future__ import annotations

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Spec
from policyengine.rules.table import Outcome, Rule, Table
from policyengine.source.schema import load_schema


def build(kind: Kind, spec: Spec) -> Table:
    """A table with one rule that always decides: what the document states."""
    settings = dict(spec.get("settings"))
    place = spec.document.place(("spec", "settings"))
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/adapter-settings"),
        rules=(Rule("settings", None, Outcome(settings), place),),
        default=Outcome(settings),
        on_error=settings,
    )


KIND = Kind("AdapterSettings", "Texts and numbers of the adapter", build)
