"""Which functions, classes and other definitions an edit touches, by the patterns of the tool catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policyengine.compression.patterns import clean, compiled

MAX_LINES = 20_000
"""Lines of one edit that are looked at: a bound on work, beyond any file that a person edits."""


class Symbols:
    """Finds definitions in text; `rows` is `artefacts.symbols` of the tool catalogue, `never` its `not_symbols`."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], limit: int, never: Iterable[str] = ()) -> None:
        self._never = frozenset(never)
        by_extension: dict[str, list[str]] = {}
        other: list[str] = []
        for row in rows:
            if not row["extensions"]:
                other += row["patterns"]
            for extension in row["extensions"]:
                by_extension.setdefault(extension.lower(), []).extend(row["patterns"])
        self._by_extension = {name: _one_of(patterns) for name, patterns in by_extension.items()}
        self._other = _one_of(other)
        self._limit = limit

    def changed(self, path: str, old: str, new: str, context: Sequence[str] = ()) -> tuple[str, ...]:
        """Names of what is defined in the lines that differ, and of what they lie in.

        `context` is text above the edit. Where no definition stands above a change, what it lies in is unknown.
        """
        pattern = self._pattern(path)
        before, after = old.splitlines()[:MAX_LINES], new.splitlines()[:MAX_LINES]
        start = 0
        while start < min(len(before), len(after)) and before[start] == after[start]:
            start += 1
        end = 0
        while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
            end += 1
        found: dict[str, None] = {}
        around = self._last([*context, *after[:start]], pattern)
        if around:
            found.setdefault(around)
        for lines in (before[start : len(before) - end], after[start : len(after) - end]):
            for line in lines:
                if name := self._defined(line, pattern):
                    found.setdefault(name)
        return tuple(found)[: self._limit]

    def _pattern(self, path: str) -> Any:
        name = path.rpartition("/")[2]
        extension = name.rpartition(".")[2].lower() if "." in name else ""
        return self._by_extension.get(extension, self._other)

    def _last(self, lines: Sequence[str], pattern: Any) -> str | None:
        for line in reversed(lines):
            if name := self._defined(line, pattern):
                return name
        return None

    def _defined(self, line: str, pattern: Any) -> str | None:
        if pattern is None or not line or line.isspace():
            return None
        match = pattern.search(clean(line))
        name = next((group for group in match.groups() if group), None) if match is not None else None
        return name if name not in self._never else None


def _one_of(patterns: Sequence[str]) -> Any:
    """All patterns as one, so that a line is searched once; None where there are none."""
    for pattern in patterns:
        compiled(pattern)  # each by itself, so that a wrong one is named
    return compiled("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None
