"""Setting one field of an input by its path, as commands and policy tests write it."""

from __future__ import annotations

import re
from typing import Any

from policyengine.source.errors import InputError

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def steps(path: str) -> list[str | int]:
    """`batch[0].kind` as ["batch", 0, "kind"]. Raises `InputError` for anything else."""
    found: list[str | int] = []
    at = 0
    while at < len(path):
        if path[at] == "." and found:
            at += 1
        match = _STEP.match(path, at)
        if match is None:
            raise InputError(f"{path!r} is no path; write it as batch[0].kind")
        found.append(match[1] if match[1] is not None else int(match[2]))
        at = match.end()
    if not found or isinstance(found[0], int):
        raise InputError(f"{path!r} is no path; write it as batch[0].kind")
    return found


def set_path(data: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of `data` with the field at `path` set. Mappings on the way are made; list items have to exist.

    One past the end of a list appends. Raises `InputError` for a path that fits nothing.
    """
    found = _set(data, steps(path), value, path)
    assert isinstance(found, dict)
    return found


def _set(data: Any, rest: list[str | int], value: Any, path: str) -> Any:
    if not rest:
        return value
    step, *later = rest
    if isinstance(step, int):
        if not isinstance(data, list) or step > len(data):
            raise InputError(f"{path!r}: there is no list item [{step}] to set")
        copy = list(data)
        inner = copy[step] if step < len(copy) else None
        copy[step : step + 1] = [_set(inner, later, value, path)]
        return copy
    if data is not None and not isinstance(data, dict):
        raise InputError(f"{path!r}: {step!r} is no field of a {type(data).__name__}")
    return {**(data or {}), step: _set((data or {}).get(step), later, value, path)}
