"""Masking: what may hold a person's words or secrets is hashed before it is logged.

A field is shown when its schema says what it can hold (numbers, booleans, an enumeration) or marks it
`"x-public": true`. Every other string is replaced by a hash, so that equal texts can still be told to be equal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

HASH_DIGITS = 32
"""Hex digits shown of a SHA-256: 128 bits, beyond accidental collision."""


def hashed(text: str) -> str:
    """`sha256:` and the first digits of the text's SHA-256."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def digest(value: Any) -> str:
    """SHA-256 of a JSON value; key order does not count."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def masked(value: Any, schema: Mapping[str, Any] | None) -> Any:
    """A copy of `value` in which every string that `schema` does not show is hashed.

    Names of fields that the schema does not know are hashed too: they may be anything.
    """
    if isinstance(value, str):
        shown = schema is not None and ("enum" in schema or "const" in schema or schema.get("x-public"))
        return value if shown else hashed(value)
    if isinstance(value, Mapping):
        known = (schema or {}).get("properties", {})
        return {
            (name if name in known else hashed(str(name))): masked(item, known.get(name))
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = (schema or {}).get("items")
        return [masked(item, items if isinstance(items, Mapping) else None) for item in value]
    return value
