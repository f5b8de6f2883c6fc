"""The report as one HTML file. Nothing in it is fetched: style, script, charting library and data are inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from policyengine.log.report.assets import CSS, JS
from policyengine.log.report.charts import Chart, charts
from policyengine.log.report.data import Data
from policyengine.log.stats import TITLES, UNITS, one, shown
from policyengine.source.errors import MissingExtraError
from policyengine.source.version import __version__

_HEADLINE = ("fast_rate", "fallback_rate", "cache_hit_rate", "turn_ms_p50", "turn_ms_p95", "wasted_fast_share")
_CONTENT = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


def page(data: Data) -> str:
    """The whole page. Raises `MissingExtraError` where the charting library is not installed."""
    library = _library()
    drawn = charts(data)
    found = one(data.whole)
    title = "Decision log"
    period = f"{found['first_day']} to {found['last_day']}" if found["first_day"] else "no times recorded"
    sizes = [("records", found["records"]), ("rounds", found["rounds"])]
    missing = [("lost", found["dropped"]), ("lines that are no records", found["unreadable"])]
    tiles = [(name, f"{number:,}".replace(",", " ")) for name, number in (*sizes, *(one for one in missing if one[1]))]
    tiles += [(TITLES[name], shown(found["metrics"][name]["value"], UNITS[name])) for name in _HEADLINE]
    return "".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_CONTENT}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{CSS}</style></head><body><main>",
            f"<header><h1>{title}</h1><p>{escape(period)}, bundle {escape(data.bundle)}</p></header><dl>",
            *(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in tiles),
            "</dl>",
            *map(_section, drawn),
            "<section><h2>All metrics</h2>",
            _table(("metric", "value", "n", "95 %"), [_measure(name, m) for name, m in found["metrics"].items()]),
            f"</section><footer>policyengine {escape(__version__)}</footer></main>",
            f'<script type="application/json" id="charts">{_json(drawn)}</script>',
            f"<script>{library}</script><script>{JS}</script></body></html>\n",
        ]
    )


def _library() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtraError("plotly", "report", "`policyengine report`") from None
    library: str = get_plotlyjs()
    return library


def _section(chart: Chart) -> str:
    return (
        f"<section><h2>{escape(chart.title)}</h2><p>{escape(chart.words)}</p>"
        f'<div class="chart" id="{chart.id}" role="img" style="height:{chart.height}px" '
        f'aria-label="{escape(chart.title)}. {escape(chart.words)}"></div>'
        f"<details><summary>Table</summary>{_table(chart.columns, chart.rows)}</details></section>"
    )


def _measure(name: str, measure: dict[str, Any]) -> Sequence[Any]:
    low, high = measure["low"], measure["high"]
    interval = "" if low is None else f"{low:.1%} to {high:.1%}"
    return TITLES[name], shown(measure["value"], UNITS[name]), measure["n"], interval


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    right = {at for row in rows for at, cell in enumerate(row) if isinstance(cell, int | float)}

    def cells(tag: str, row: Sequence[Any]) -> str:
        return "".join(
            f"<{tag}{' class=n' if at in right else ''}>{escape(_cell(cell))}</{tag}>" for at, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{cells("th", columns)}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}".replace(",", " ")
    return str(value)


def _json(drawn: Sequence[Chart]) -> str:
    content = [
        {"id": chart.id, "traces": chart.traces, "layout": chart.layout, "height": chart.height} for chart in drawn
    ]  # fmt: skip
    # Inside a script element only its end tag, and what begins a comment, must not be seen.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
