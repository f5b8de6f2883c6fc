"""The text of `policyengine log`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.commands.options import NO_RECORD, counted, thousands
from policyengine.log.stats import TITLES, UNITS, shown
from policyengine.source.render import printable

_GROUP_METRICS = ("fast_rate", "fallback_rate", "cache_hit_rate", "turn_ms_p50", "turn_ms_p95")
_LONGEST_CELL = 120
METRIC = ("metric", "value", "n", "95 %")
"""Heads of a table of metrics. The name stands first: a gate asks for a metric by it."""


def stats_text(found: Mapping[str, Any]) -> str:
    """Counts, metrics, vetoes, and a table of groups."""
    days = f"{found['first_day']} to {found['last_day']}" if found["first_day"] else "no times"
    lost = [
        counted(found[name], *words)
        for name, words in (
            ("dropped", ("lost", "lost")),
            ("unreadable", NO_RECORD),
            ("errors", ("with errors", "with errors")),
        )
        if found[name]
    ]
    counts = ", ".join(counted(found[f"{name}s"], name) for name in ("record", "round", "day"))
    lines = [
        f"{counts} ({days})" + (f"; {', '.join(lost)}" if lost else ""),
        printable(", ".join(f"{kind} {thousands(number)}" for kind, number in found["kinds"].items())),
        "",
    ]
    rows = [[*_measure(name, UNITS[name], one), TITLES[name]] for name, one in found["metrics"].items()]
    lines.append(table_text([*METRIC, "what it is"], rows, right=(1, 2)))
    if found["vetoes"]:
        lines += ["", "vetoes", table_text(
            ["veto", "share", *METRIC[2:]],
            [_measure(name, "share", one) for name, one in found["vetoes"].items()], right=(1, 2),
        )]  # fmt: skip
    if "groups" in found:
        lines += ["", f"by {found['by']}", _groups(found["by"], found["groups"])]
    return "\n".join(lines)


def _measure(name: str, unit: str, one: Mapping[str, Any]) -> list[str]:
    interval = "" if one["low"] is None else f"{one['low']:.1%} to {one['high']:.1%}"
    return [name, shown(one["value"], unit), thousands(one["n"]), interval]


def _groups(by: str, groups: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        [name, thousands(one["records"])]
        + [shown(one["metrics"][metric]["value"], UNITS[metric]) for metric in _GROUP_METRICS]
        for name, one in groups.items()
    ]
    return table_text([by, "records", *_GROUP_METRICS], rows, right=range(1, 2 + len(_GROUP_METRICS)))


def record_line(record: Mapping[str, Any]) -> str:
    """One record for a person."""
    decided = ", ".join(
        f"{name} {_short(value)}" for name, value in (record.get("outcome") or {}).items() if value is not None
    )
    where = record.get("session_id") or record.get("source", "")
    number = f" round {record['round']}" if record.get("round") is not None else ""
    by = record.get("rule") or ("on_error" if record.get("errors") else "default")
    time = (record.get("time") or "no time")[:23]
    failed = f"  {counted(len(record['errors']), 'error')}" if record.get("errors") else ""
    # What a log holds never begins a line of its own, nor does a terminal act on it.
    return printable(f"{time}  {where}{number}  {record.get('policy')}/{by}  {decided}{failed}")


def table_text(names: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Columns of text."""
    cells = [[_short(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(names)]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.rjust(w) if i in right else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    return "\n".join([line(names), *map(line, cells)])


def _short(value: Any) -> str:
    text = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    )
    text = printable(text)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
