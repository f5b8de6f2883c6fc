"""The fields of a record, in the order in which every sink writes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from policyengine.source.schema import load_schema

SCHEMA = "policyengine.record/1"

ROUND_KINDS = frozenset({"Ladder", "Routing"})
"""Kinds whose records say what a round came to (tokens, times, response); metrics read it there, once a round."""


@lru_cache(maxsize=1)
def fields() -> tuple[str, ...]:
    """Every field of a record, in the schema's order."""
    return tuple(load_schema("record")["properties"])


@lru_cache(maxsize=1)
def ranks() -> dict[str, int]:
    """The place of each field in that order."""
    return {name: place for place, name in enumerate(fields())}


def in_order(record: Mapping[str, Any]) -> list[str]:
    """The fields of a record in order; those that the schema does not know come last."""
    rank = ranks()
    return sorted(record, key=lambda name: rank.get(name, len(rank)))


def plain(value: Any) -> Any:
    """What JSON does not know, as JSON: for `json.dumps(default=...)`."""
    return dict(value) if isinstance(value, Mapping) else str(value)
