"""Table: a policy of the reader's own, with the schema of its input in the document."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Spec
from policyengine.rules.table import Table


def build(kind: Kind, spec: Spec) -> Table:
    """A table over `spec.input`."""
    return plain.build_over(kind, spec, spec.get("input"))


KIND = Kind("Table", "A table of your own", build, input_key="input", several=True)
