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
        self._by_extension: dict[str, list[Any]] = {}
        self._other: list[Any] = []
        self._limit = limit
        for row in rows:
            patterns = [compiled(pattern) for pattern in row["patterns"]]
            if not row["extensions"]:
                self._other += patterns
            for extension in row["extensions"]:
                self._by_extension.setdefault(extension.lower(), []).extend(patterns)

    def changed(self, path: str, old: str, new: str, context: Sequence[str] = ()) -> tuple[str, ...]:
        """Names of what is defined in the lines that differ, and of what they lie in.

        `context` is text above the edit. Where no definition stands above a change, what it lies in is unknown.
        """
        patterns = self._patterns(path)
        before, after = old.splitlines()[:MAX_LINES], new.splitlines()[:MAX_LINES]
        start = 0
        while start < min(len(before), len(after)) and before[start] == after[start]:
            start += 1
        end = 0
        while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
            end += 1
        found: dict[str, None] = {}
        around = self._last([*context, *after[:start]], patterns)
        if around:
            found.setdefault(around)
        for lines in (before[start : len(before) - end], after[start : len(after) - end]):
            for line in lines:
                if name := self._defined(line, patterns):
                    found.setdefault(name)
        return tuple(found)[: self._limit]

    def _patterns(self, path: str) -> list[Any]:
        name = path.rpartition("/")[2]
        extension = name.rpartition(".")[2].lower() if "." in name else ""
        return self._by_extension.get(extension, self._other)

    def _last(self, lines: Sequence[str], patterns: Sequence[Any]) -> str | None:
        for line in reversed(lines):
            if name := self._defined(line, patterns):
                return name
        return None

    def _defined(self, line: str, patterns: Sequence[Any]) -> str | None:
        if not line.strip():
            return None
        line = clean(line)
        for pattern in patterns:
            match = pattern.search(line)
            if match is not None:
                name: str = match.group(1)
                if name not in self._never:
                    return name
        return None
