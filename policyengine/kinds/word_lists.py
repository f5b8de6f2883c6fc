"""WordLists: word lists that every expression of a bundle sees as `words.NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyengine.kinds.kind import Kind


def entries(spec: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Each list's entries, Latin and CJK together: how an entry matches follows from its script."""
    return {name: (*row.get("latin", ()), *row.get("cjk", ())) for name, row in spec.get("words", {}).items()}


KIND = Kind("WordLists", "Word lists that every expression of the bundle sees")
