"""The text of `policyengine replay`: a table a session, totals at the end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from policyengine.cel.errors import Failure
from policyengine.check.replay import RoundReplay, SessionReplay
from policyengine.check.replay_totals import cache_totals, directive_totals, estimate_totals, routing_totals
from policyengine.commands.options import counted, noun, thousands
from policyengine.compression.refetch import Refetch
from policyengine.source.render import printable

_PIECE = 500
"""Lines that are printed at once."""
_GAP = 2
"""Spaces between two columns."""

_TIER_STYLE = {"warn": "yellow", "auto": "dark_orange", "hard": "red"}
_NO_WINDOW = "window unknown: no thresholds; give it with --window N"
_NAMES = 10
"""Tools without a kind that are named."""
_LONGEST_VALUE = 300
"""Characters of an input shown in the text of one round."""


def show(replays: Sequence[SessionReplay], *, wide: bool = False) -> None:
    """Print everything. On a terminal that is too narrow columns are left out, unless `wide`."""
    console = Console(highlight=False, soft_wrap=True)
    for one in replays:
        console.print(printable(_heading(one)), markup=False)
        lines = _table(one, console.width if sys.stdout.isatty() and not wide else None)
        while piece := list(islice(lines, _PIECE)):
            console.print(Text("\n").join(piece))
        for line in _session_totals(one):
            console.print(printable(line), markup=False)
        console.print()
    for line in _totals(replays):
        console.print(line, markup=False)


def _heading(one: SessionReplay) -> str:
    session = one.session
    window = next((row for row in one.rounds if row.window is not None), None)
    about = f"window {thousands(window.window)} ({window.window_origin})" if window else _NO_WINDOW
    return f"{session.path}  {session.format}, {session.model or 'model unknown'}, {about}"


_NUMBERS = ("round", "turn", "tokens")
_WORDS = ("from", "tier", "compaction", "tip", "directive", "routing", "veto", "followed by", "breaker")


_LEAST = ("from", "turn", "breaker", "followed by", "directive", "tip", "veto")
"""The columns that a narrow terminal does without, the least important one first."""


def _table(one: SessionReplay, width: int | None) -> Iterator[Text]:
    """The lines of the rounds. Where `width` is too narrow for them, columns are left out whole, and that is said.

    Columns without any entry go first. What still does not fit wraps: a cell without its end says nothing.

    Laid out by hand: a table of rich takes milliseconds a row, and sessions have thousands.
    """
    names, rows = [*_NUMBERS, *_WORDS], [_cells(row) for row in one.rounds]
    widths = [max(map(cell_len, [name, *(str(row[at]) for row in rows)])) for at, name in enumerate(names)]
    shown = list(range(len(names)))
    left: list[str] = []
    if width is not None:
        empty = [name for at, name in enumerate(names) if not any(str(row[at]) for row in rows)]
        for name in dict.fromkeys((*empty, *_LEAST)):
            if _whole([widths[at] for at in shown]) <= width:
                break
            shown.remove(names.index(name))
            left.append(name)
    header: list[Text | str] = [Text(name, style="bold") for name in names]
    for row in (header, *rows):
        line = Text()
        for at in shown:
            gap = " " * (widths[at] - cell_len(str(row[at])))
            between = " " * _GAP if at != shown[-1] else ""
            if names[at] in _NUMBERS:
                line.append(gap).append(row[at]).append(between)
            else:
                line.append(row[at]).append(gap + between)
        line.rstrip()
        yield line
    if left:
        what = noun(len(left), "column", "columns")
        yield Text(f"{what} left out, this terminal is too narrow: {', '.join(left)} (--wide shows all)", style="dim")


def _whole(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _cells(row: RoundReplay) -> list[Text | str]:
    before, after = row.before, row.after
    compaction = ""
    if before.compact:
        by = before.trigger if before.reason == "triggered" else None
        compaction = "forced" if before.forced else by or "auto"
        compaction += ", as recorded" if row.compaction_recorded else f", {row.compaction_result}"
    elif row.compaction_recorded:
        compaction = "recorded only"
    elif before.reason in ("breaker_open", "rescue_exhausted"):
        compaction = before.reason
    routing = after.routing["decision"] if after else ""
    followed = row.followed_by.replace("_", " ")
    if row.routing_outcome == "would_fall_back":
        followed += " (falls back)"
    return [
        str(row.round.index),
        str(row.round.turn),
        thousands(row.tokens),
        row.tokens_source,
        Text(before.tier if before.tier != "none" else "", style=_TIER_STYLE.get(before.tier, "")),
        Text(compaction, style="bold" if before.compact else ""),
        before.tip["tip"] or "",
        after.directive["directive"] if after else "",
        Text(routing, style="green" if routing == "fast" else ""),
        _why(after.routing) if after else "",
        followed if after else "",
        before.breaker if before.breaker != "closed" else "",
    ]


def _why(routing: Mapping[str, Any]) -> str:
    """The veto of a routing; where another rule sent the round to the primary model, that rule in brackets."""
    if veto := routing.get("veto_reason"):
        return str(veto)
    return "" if routing["decision"] == "fast" else f"({routing.get('reason') or 'unknown'})"


def _session_totals(one: SessionReplay) -> list[str]:
    session = one.session
    decided = [
        f"round {row.round.index} at {thousands(row.tokens)} "
        f"({'recorded there' if row.compaction_recorded else 'not recorded'})"
        for row in one.compactions
    ]
    recorded = [
        f"round {item.round} at {thousands(item.tokens)} ({item.trigger or 'unknown'})"
        for item in session.recorded_compactions
    ]
    estimate, cache = estimate_totals(one), cache_totals(one)
    lines = [
        f"rounds {len(one.rounds)}, turns {len(session.turns)}",
        f"compactions decided: {'; '.join(decided) or 'none'}",
        f"compactions recorded: {'; '.join(recorded) or 'none'}",
    ]
    if estimate["p50"] is not None:
        lines.append(
            f"estimate / reported prompt tokens over {counted(estimate['rounds'], 'round')}: "
            f"p5 {estimate['p5']:.3f}, p50 {estimate['p50']:.3f}, p95 {estimate['p95']:.3f}"
        )
    if cache["p50"] is not None:
        lines.append(f"cache hit rate of a round: p50 {cache['p50']:.1%}, p90 {cache['p90']:.1%}")
    lines += [_refetched(item) for item in one.refetches]
    if session.skipped:
        shown = ", ".join(f"{name} {count}" for name, count in session.skipped.items())
        lines.append(f"skipped {sum(session.skipped.values())} of {counted(session.lines, 'line')}: {shown}")
    if session.noted:
        lines.append("noted: " + ", ".join(f"{name} {count}" for name, count in session.noted.items()))
    if one.unlisted:
        lines.append(_unlisted(one.unlisted))
    return lines


def _unlisted(calls: Mapping[str, int]) -> str:
    """Whether such a tool changes anything is not known, so that what is said of routing rests on a guess."""
    shown = ", ".join(f"{name} {count}" for name, count in islice(calls.items(), _NAMES))
    more = f" and {thousands(len(calls) - _NAMES)} more" if len(calls) > _NAMES else ""
    return f"tools of no known kind: {shown}{more}; a policy of kind ToolCatalogue says what they do"


def _refetched(item: Refetch) -> str:
    rate = f"{item.rate:.1%}" if item.rate is not None else "–"
    return (
        f"read again after the compaction before round {item.round}: {len(item.files)} of"
        f" {counted(item.known, 'known file')} ({rate}), {counted(item.tokens, 'token')};"
        f" {item.edited} of them {noun(item.edited, 'was', 'were')} edited next"
    )


def _totals(replays: Sequence[SessionReplay]) -> list[str]:
    routing, directives = routing_totals(replays), directive_totals(replays)
    vetoes, others = (
        ", ".join(f"{name} {count}" for name, count in routing[key].items()) for key in ("vetoes", "without_veto")
    )
    return [
        f"continuations {routing['continuations']}: fast {routing['fast']} "
        f"(confirmed {routing['fast_confirmed']}, would fall back {routing['fast_would_fall_back']}), "
        f"primary {routing['primary']}"
        + (f"; vetoes: {vetoes}" if vetoes else "")
        + (f"; without a veto: {others}" if others else ""),
        f"batches {directives['batches']}: skippable {directives['skippable']} "
        f"(of these {directives['skippable_followed_by_tool_call']} called tools again)",
    ]


def one_round(one: SessionReplay, row: RoundReplay) -> str:
    """Everything about one round, with the trace of each decision."""
    item = row.round
    lines = [
        f"{one.session.path}  round {item.index}, turn {item.turn}, context {item.context}",
        f"model {item.model or 'unknown'}, window {thousands(row.window)} ({row.window_origin})",
        f"tokens {thousands(row.tokens)} ({row.tokens_source}), reported {thousands(row.actual_tokens)}",
        f"response: {row.followed_by.replace('_', ' ')}"
        + (f" ({', '.join(call.name for call in item.calls)})" if item.calls else ""),
    ]
    for made in row.made:
        decision = made.decision
        by = ", ".join(decision.rules) or ("on_error" if decision.errors else "default")
        lines += ["", f"{decision.policy} {decision.version} ({made.policy.kind.name}) decided by {by}"]
        lines.append(f"  input    {_short(made.input)}")
        lines.append(f"  outcome  {_short(decision.outcome)}")
        lines += [f"  error    {error.where}: {error.message}" for error in decision.errors]
        looked = [step for step in decision.trace if step.status.value != "skipped"]
        for step in looked:
            if len(looked) > 20 and step.status.value == "false":
                continue
            lines.append(f"  {step.status.value:<8} {step.rule}" + (f"   {step.when}" if step.when else ""))
            lines += [f"             {name} = {_short(value)}" for name, value in step.values.items()]
            if step.error:
                lines.append(f"             {step.error}")
    # Conditions may be written on several lines; what a transcript holds never begins a line of its own.
    about, decided = lines[:4], [part for line in lines[4:] for part in line.split("\n")]
    return "\n".join(map(printable, [*about, *decided]))


def _short(value: object) -> str:
    if isinstance(value, Failure):
        return f"error: {value}"
    text = json.dumps(
        value, ensure_ascii=False, default=lambda item: dict(item) if hasattr(item, "keys") else str(item)
    )
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
