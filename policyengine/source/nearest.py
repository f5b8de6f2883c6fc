"""The nearest known name to one that is not known, for "did you mean" hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# How alike two names must be to be offered; difflib's default: lower offers nonsense, higher misses typos.
_ALIKE = 0.6


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name in `known` that was most likely meant by `name`, or None where nothing is near.

    Upper and lower case and the separators `-`, `_` and `.` count for nothing.
    """
    by_shape: dict[str, str] = {}
    for candidate in known:
        by_shape.setdefault(_shape(candidate), candidate)
    wanted = _shape(name)
    if wanted in by_shape:
        return by_shape[wanted]
    found = difflib.get_close_matches(wanted, by_shape, n=1, cutoff=_ALIKE)
    return by_shape[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that offers the nearest known name, or None."""
    found = nearest(name, known)
    return f"did you mean `{found}`?" if found is not None else None


def _shape(name: str) -> str:
    return name.lower().translate(_SEPARATORS)


_SEPARATORS = {ord("-"): "", ord("_"): "", ord("."): "", ord(" "): ""}
