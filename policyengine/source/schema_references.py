"""What a schema says where it refers to others: the keys that it knows, and everything about one of them.

All of it makes hints. A reference that cannot be followed only makes the hint poorer.
"""

from __future__ import annotations

from typing import Any

_CHAIN = 8
"""References that lead from one to the next; more than a few would be a mistake in the schema."""


def known_keys(error: Any, validator: Any) -> list[str]:
    """The keys that the schema of an error of jsonschema knows, with those of the schemas that it joins."""
    keys: dict[str, None] = {}
    pending, seen = [(error.schema, _resolver_of(error, validator))], set()
    while pending:
        part, resolver = pending.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        keys.update(dict.fromkeys(part.get("properties", {})))
        for name in ("allOf", "anyOf", "oneOf"):
            pending.extend((branch, resolver) for branch in part.get(name, []))
        pending.extend((part[name], resolver) for name in ("then", "else", "if") if name in part)
        pending.extend((branch, resolver) for branch in part.get("dependentSchemas", {}).values())
        if (target := _followed(part, resolver)) is not None:
            pending.append(target)
    return list(keys)


def about_key(key: str, error: Any, validator: Any) -> dict[str, Any]:
    """All that the schema of an error of jsonschema says about a key: its own words before those referred to."""
    schema: Any = error.schema.get("properties", {}).get(key, {}) if isinstance(error.schema, dict) else {}
    merged: dict[str, Any] = {}
    resolver = _resolver_of(error, validator)
    for _ in range(_CHAIN):
        if not isinstance(schema, dict):
            break
        merged = {**schema, **merged}
        if (target := _followed(schema, resolver)) is None:
            break
        schema, resolver = target
    return merged


def _resolver_of(error: Any, validator: Any) -> Any:
    """What resolves the references of the schema that `error` is about; None where it cannot be told."""
    schema: Any = validator.schema
    resolver: Any = getattr(validator, "_resolver", None)
    for step in error.absolute_schema_path if resolver is not None else ():
        # jsonschema leaves `$ref` out of its paths.
        while isinstance(schema, dict) and step not in schema and "$ref" in schema:
            if (target := _followed(schema, resolver)) is None:
                return None
            schema, resolver = target
        try:
            schema = schema[step]
        except (LookupError, TypeError):
            return None
    return resolver


def _followed(schema: dict[str, Any], resolver: Any) -> tuple[Any, Any] | None:
    """The schema that this one refers to, and what resolves its references; None where there is none."""
    if "$ref" not in schema or resolver is None:
        return None
    try:
        target = resolver.lookup(schema["$ref"])
    except Exception:  # whatever it is, there is no such schema to be had
        return None
    return target.contents, target.resolver
