"""The charts of the report, as data for the charting library. Colours are names that the page's theme fills in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from policyengine.log.metrics.definitions import BY_NAME, vetoes
from policyengine.log.metrics.tally import Tally
from policyengine.log.report.data import Data, SessionRound, moment_of

_TIERS = ("warn", "auto", "hard")
_DASHES = {"warn": "dot", "auto": "dash", "hard": "solid"}
_EDGED = 31
"""The most bars that have an edge: narrower ones would be nothing but that."""
_SHARE = {"tickformat": ".0%", "rangemode": "tozero"}


@dataclass(slots=True)
class Chart:
    """One chart, what it says in words, and the table behind it."""

    id: str
    title: str
    words: str
    traces: list[dict[str, Any]]
    layout: dict[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    height: int = 340
    notes: list[str] = field(default_factory=list)


def charts(data: Data) -> list[Chart]:
    """Every chart, in the order in which they are shown."""
    found = [_session(name, rounds, number) for number, (name, rounds) in enumerate(data.sessions.items())]
    found += [_split(data), _vetoes(data), _fallback(data), _cache(data), _wasted(data)]
    return [*found, *(_ladder(name, data) for name in list(data.ladders)[:1])]


def _session(name: str, rounds: list[SessionRound], number: int) -> Chart:
    numbers = [one.number for one in rounds]
    traces: list[dict[str, Any]] = [
        _line("tokens", numbers, [one.tokens for one in rounds], "tokens", fill="tozeroy"),
    ]
    for tier in _TIERS:
        steps = [one.thresholds.get(tier) for one in rounds]
        if any(step is not None for step in steps):
            traces.append(_line(tier, numbers, steps, tier, dash=_DASHES[tier], width=1.5, shape="hv"))
    compacted = [one for one in rounds if one.compaction]
    tips = [
        one for before, one in zip([None, *rounds], rounds, strict=False)
        if one.tip and one.tip != (before.tip if before else None)
    ]  # fmt: skip
    # Compactions stand on the curve, tips on the axis below: they often come in the same round.
    for title, marked, heights, texts, symbol in (
        ("compaction", compacted, [one.tokens for one in compacted], [one.compaction for one in compacted],
         "triangle-down"),
        ("tip", tips, [0] * len(tips), [one.tip for one in tips], "diamond"),
    ):  # fmt: skip
        if marked:
            traces.append(
                {
                    "type": "scatter", "mode": "markers", "name": title, "x": [one.number for one in marked],
                    "y": heights, "text": texts, "cliponaxis": False,
                    "marker": {"symbol": symbol, "size": 13, "color": f"var(--{title})",
                               "line": {"color": "var(--page)", "width": 2}},
                    "hovertemplate": f"{title}, round %{{x}}: %{{text}}<extra></extra>",
                }
            )  # fmt: skip
    reached = [one.tier for one in rounds if one.tier and one.tier != "none"]
    most = max((one.tokens or 0 for one in rounds), default=0)
    words = (
        f"Rounds: {len(rounds)}; tokens: at most {_number(most)}; compactions: {len(compacted)}; "
        f"rounds at or above warn: {len(reached)}."
    )
    layout = {"xaxis": {"title": {"text": "round"}}, "yaxis": {"title": {"text": "tokens"}, "rangemode": "tozero"}}
    rows = [
        [one.number, one.tokens, one.tier, one.compaction, one.tip, one.decision, one.veto] for one in rounds
    ]  # fmt: skip
    columns = ("round", "tokens", "tier", "compaction", "tip", "routing", "veto")
    return Chart(f"session-{number}", f"Tokens over rounds: {name}", words, traces, layout, columns, rows, 400)


def _split(data: Data) -> Chart:
    names = [name for name, _ in data.groups]
    edge = 1 if len(names) <= _EDGED else 0
    counts = {decision: [_decided(tally, decision) for _, tally in data.groups] for decision in ("fast", "primary")}
    traces = [
        {"type": "bar", "name": decision, "x": _times(names), "y": values, **_bar_width(data.by),
         "marker": {"color": f"var(--{decision})", "line": {"color": "var(--page)", "width": edge}},
         "hovertemplate": f"{decision}: %{{y}}<extra>%{{x}}</extra>"}
        for decision, values in counts.items()
    ]  # fmt: skip
    rate = BY_NAME["fast_rate"].of(data.whole)
    words = f"{_share(rate.value)} of {_number(rate.n)} continuations go to the fast model; 30 to 50 % are expected."
    rows = [
        [name, fast, primary, _share(fast / (fast + primary) if fast + primary else None)]
        for name, fast, primary in zip(names, counts["fast"], counts["primary"], strict=True)
    ]
    layout = {"barmode": "stack", "yaxis": {"title": {"text": "continuations"}}, "xaxis": _time_axis(names, data.by)}
    columns = (data.by, "fast", "primary", "fast rate")
    return Chart("split", "Fast and primary over time", words, traces, layout, columns, rows)


def _vetoes(data: Data) -> Chart:
    shares = vetoes(data.whole)
    names = list(reversed(shares))
    values = [shares[name].value for name in names]
    traces = [
        {
            "type": "bar", "orientation": "h", "name": "share", "x": values, "y": names,
            "marker": {"color": "var(--primary)"}, "text": [_share(value) for value in values],
            "textposition": "outside", "cliponaxis": False, "hovertemplate": "%{y}: %{x:.1%}<extra></extra>",
        }
    ]  # fmt: skip
    top = next(iter(shares), None)
    words = (
        f"The most frequent veto is {top}: {_share(shares[top].value)} of {_number(shares[top].n)}." if top
        else "No continuation met a veto."
    )  # fmt: skip
    rows = [
        [name, round((one.value or 0) * one.n), _share(one.value), f"{_share(one.low)} to {_share(one.high)}"]
        for name, one in shares.items()
    ]
    most = max((value or 0 for value in values), default=0)
    layout = {
        "xaxis": {**_SHARE, "range": [0, min(1.15, most * 1.2) or 1]},
        "yaxis": {"automargin": True, "ticksuffix": " "},
        "showlegend": False,
    }
    return Chart("vetoes", "Share of each veto", words, traces, layout, ("veto", "count", "share", "95 %"), rows,
                 max(200, 90 + 34 * len(names)))  # fmt: skip


def _fallback(data: Data) -> Chart:
    return _rates(
        data, "fallback", "Fallback rate", (("fallback_rate", "fallback rate", "fallback"),),
        [("fallback", "turns fast off")], "{} of fast rounds fell back",
    )  # fmt: skip


def _cache(data: Data) -> Chart:
    return _rates(
        data, "cache", "Cache hit rate",
        (("cache_hit_rate", "cached / prompt tokens", "tokens"), ("cache_hit_p50", "P50 of a round", "fast")),
        [("cache_ceiling", "near the ceiling"), ("cache_low", "prefix breaks below")],
        "{} of prompt tokens were cached",
    )  # fmt: skip


def _wasted(data: Data) -> Chart:
    return _rates(
        data, "wasted", "Wasted fast tokens", (("wasted_fast_share", "wasted / primary tokens", "fallback"),), [],
        "Fast rounds that fell back used {} as many tokens as primary rounds",
    )  # fmt: skip


def _rates(
    data: Data, id: str, title: str, metrics: Sequence[tuple[str, str, str]], lines: Sequence[tuple[str, str]],
    words: str,
) -> Chart:  # fmt: skip
    names = [name for name, _ in data.groups]
    traces = []
    rows: list[list[Any]] = [[name] for name in names]
    for metric, label, color in metrics:
        measures = [BY_NAME[metric].of(tally) for _, tally in data.groups]
        x, y = _broken(names, [one.value for one in measures], data.by)
        traces.append(
            {**_line(label, x, y, color), "mode": "lines+markers", "connectgaps": False,
             "hovertemplate": "%{y:.1%}<extra>%{x}</extra>"}
        )  # fmt: skip
        for row, one in zip(rows, measures, strict=True):
            row += [_share(one.value), one.n]
    shown = [(text, data.lines[name]) for name, text in lines if name in data.lines]
    layout: dict[str, Any] = {
        "yaxis": dict(_SHARE),
        "xaxis": _time_axis(names, data.by),
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at,
             "line": {"color": "var(--gate)", "width": 1.5, "dash": "dash"}}
            for _, at in shown
        ],
        "annotations": [
            {"xref": "paper", "x": 1, "xanchor": "right", "y": at, "yanchor": "bottom", "showarrow": False,
             "text": f"{at:.0%} {text}", "font": {"color": "var(--gate)", "size": 12},
             "bgcolor": "var(--page)", "borderpad": 1}
            for text, at in shown
        ],
        "showlegend": len(metrics) > 1,
    }  # fmt: skip
    values = [value for trace in traces for value in trace["y"] if value is not None]
    top = max([*values, *(at for _, at in shown)], default=0)
    layout["yaxis"]["range"] = [0, top * 1.15 or 1]
    whole = BY_NAME[metrics[0][0]].of(data.whole)
    said = f"{words.format(_share(whole.value))} (n = {_number(whole.n)})." if whole.value is not None else (
        "Nothing was measured: no record of this log says anything about it."
    )  # fmt: skip
    columns = [data.by, *(part for _, label, _ in metrics for part in (label, "n"))]
    return Chart(id, title, said, traces, layout, columns, list(rows))


def _ladder(name: str, data: Data) -> Chart:
    curve = data.ladders[name]
    windows = [window for window, _ in curve]
    traces = [
        _line(tier, windows, [outcome[tier] for _, outcome in curve], tier, dash=_DASHES[tier]) for tier in _TIERS
    ]
    traces.append(_line("window", windows, windows, "muted", width=1))
    layout = {
        "xaxis": {"type": "log", "title": {"text": "window, tokens"}},
        "yaxis": {"type": "log", "title": {"text": "threshold, tokens"}},
    }
    rows = [[window, *(outcome[tier] for tier in _TIERS), outcome["auto_branch"]] for window, outcome in curve]
    words = (
        f"The thresholds of the ladder {name} for windows from {_number(windows[0])} to {_number(windows[-1])} tokens."
    )
    return Chart("ladder", f"Ladder {name} over window sizes", words, traces, layout,
                 ("window", *_TIERS, "auto decided by"), rows, 420)  # fmt: skip


def _line(
    name: str, x: Sequence[Any], y: Sequence[Any], color: str, *, dash: str = "solid", width: float = 2,
    shape: str = "linear", fill: str = "none",
) -> dict[str, Any]:  # fmt: skip
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": list(x), "y": list(y), "fill": fill,
        "fillcolor": "var(--wash)", "line": {"color": f"var(--{color})", "width": width, "dash": dash, "shape": shape},
        "marker": {"color": f"var(--{color})", "size": 7},
        "hovertemplate": f"{name}: %{{y:,}}<extra></extra>",
    }  # fmt: skip


def _decided(tally: Tally, decision: str) -> int:
    return sum(number for (one, _), number in tally.routed.items() if one == decision)


def _times(names: Sequence[str]) -> list[str]:
    return [f"{name}:00" if "T" in name else name for name in names]


def _time_axis(names: Sequence[str], by: str) -> dict[str, Any]:
    """One tick a group where there are few and none is left out, so that no hour between two of them is made up.

    Where some are left out, the axis shows how long nothing was recorded.
    """
    few = len(names) <= 12 and not any(_gaps(names, by))
    return {"type": "category" if few else "date", "tickangle": 0 if len(names) <= 4 else "auto"}


def _gaps(names: Sequence[str], by: str) -> list[str | None]:
    """For each group the one that would come next, where that one is not there though others follow."""
    nexts = [_next(name, by) for name in names]
    return [
        following if following is not None and after is not None and following != after else None
        for following, after in zip_longest(nexts, names[1:])
    ]


def _next(name: str, by: str) -> str | None:
    begins = moment_of(name)
    if begins is None:
        return None
    if by == "month":
        return (begins.replace(day=1) + timedelta(days=31)).strftime("%Y-%m")
    later = begins + (timedelta(days=1) if by == "day" else timedelta(hours=1))
    return later.strftime("%Y-%m-%d" if by == "day" else "%Y-%m-%dT%H")


def _broken(names: Sequence[str], values: Sequence[Any], by: str) -> tuple[list[str], list[Any]]:
    """The points of a line, with one of no value wherever groups are left out: no line is drawn across them."""
    x: list[str] = []
    y: list[Any] = []
    for name, value, gap in zip(names, values, _gaps(names, by), strict=True):
        x.append(name)
        y.append(value)
        if gap is not None:
            x.append(gap)
            y.append(None)
    return _times(x), y


def _bar_width(by: str) -> dict[str, Any]:
    """A month is as wide as it is long; by itself the library makes bars as narrow as the two nearest allow."""
    return {"xperiod": "M1", "xperiodalignment": "middle"} if by == "month" else {}


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ")
