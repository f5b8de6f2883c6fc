"""Tables of rows and lists of values, unrolled: one row a case."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policyengine.check.policy_tests.findings import Findings
from policyengine.check.policy_tests.model import Path, Setting
from policyengine.source.counts import counted

NAME, RULE, ERRORS = "name", "rule", "errors"
EXPECT, INPUT = "expect.", "input."

# How much of a row's values stands in its name, in characters.
_SHOWN = 60


@dataclass(slots=True)
class Row:
    """What one row adds to its case."""

    name: str
    at: Path
    settings: tuple[Setting, ...] = ()
    expect: dict[str, Any] = field(default_factory=dict)
    rules: tuple[str, ...] | None = None
    errors: tuple[str, ...] | None = None
    expected_at: dict[str, Path] = field(default_factory=dict)


def rows(data: Mapping[str, Any], at: Path, findings: Findings) -> list[Row]:
    """The rows of a case; a case without table is one row that adds nothing."""
    if "each" in data:
        return _each(data, at)
    if "rows" in data:
        return _table(data, at, findings)
    return [Row(data["name"], at)]


def _each(data: Mapping[str, Any], at: Path) -> list[Row]:
    ((path, values),) = data["each"].items()
    found = []
    for index, value in enumerate(values):
        here: Path = (*at, "each", path, index)
        found.append(Row(f"{data['name']} [{_shown([value])}]", here, (Setting(path, value, here),)))
    return _distinct(found)


def _table(data: Mapping[str, Any], at: Path, findings: Findings) -> list[Row]:
    columns: Sequence[str] = data["columns"]
    found = []
    for index, cells in enumerate(data["rows"]):
        here: Path = (*at, "rows", index)
        if len(cells) != len(columns):
            message = f"the row has {counted(len(cells), 'cell')} for {counted(len(columns), 'column')}"
            findings.at(here, message, "add or remove cells")
            continue
        row = Row("", here)
        given = []
        for number, (column, cell) in enumerate(zip(columns, cells, strict=True)):
            where: Path = (*here, number)
            if column == NAME:
                row.name = str(cell)
            elif column == RULE:
                row.rules = _texts(cell, where, "a rule id, or a list of them", findings)
                row.expected_at[RULE] = where
            elif column == ERRORS:
                row.errors = _texts(cell, where, "a piece of the error's text, or a list of them", findings)
                row.expected_at[ERRORS] = where
            elif column.startswith(EXPECT):
                row.expect[column.removeprefix(EXPECT)] = cell
                row.expected_at[column.removeprefix(EXPECT)] = where
            else:
                row.settings = (*row.settings, Setting(column.removeprefix(INPUT), cell, where))
                given.append(cell)
        shown = row.name or _shown(given or cells)
        row.name = f"{data['name']} [{shown}]"
        found.append(row)
    return _distinct(found)


def _texts(cell: Any, at: Path, wanted: str, findings: Findings) -> tuple[str, ...] | None:
    listed = cell if isinstance(cell, list) else [cell]
    if cell == [] or not all(isinstance(one, str) for one in listed):
        findings.at(at, f"expected {wanted}", "quote it where it is meant as text")
        return None
    return tuple(listed)


def _shown(cells: Sequence[Any]) -> str:
    text = ", ".join(c if isinstance(c, str) else json.dumps(c, ensure_ascii=False) for c in cells)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _distinct(found: list[Row]) -> list[Row]:
    """Rows that would share a name get their number."""
    counts = Counter(row.name for row in found)
    for number, row in enumerate(found, start=1):
        if counts[row.name] > 1:
            row.name = f"{row.name} #{number}"
    return found
