"""The events of a turn as a terminal shows them: the answer on stdout, what was decided on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from policyengine.commands.options import counted, thousands
from policyengine.runtime import events as e
from policyengine.source.render import harmless, printable


class Printer:
    """Prints events as they come.

    On a terminal the answer appears while it is written, and one that is withdrawn is crossed out by a line that says
    so. Elsewhere only answers that count are printed.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.status = 0
        self._quiet = quiet
        self._live = sys.stdout.isatty()
        self._dim = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        self._pending: list[str] = []
        self._open_line = False
        self._results: dict[str, tuple[str, str]] = {}
        """Name and output of each tool of the batch, in the order in which they were called."""

    def show(self, event: e.Event) -> None:
        """Print one event."""
        if isinstance(event, e.TextChunk):
            self._text(event.text)
        elif isinstance(event, e.TextWithdrawn):
            self._withdrawn(event)
        elif isinstance(event, e.RoundEnded):
            self._answer()
            self._results.clear()
        elif isinstance(event, e.ToolStarted):
            self._results[event.call_id] = (event.name, "")
        elif isinstance(event, e.ToolEnded):
            self._results[event.call_id] = (event.name, event.output)
        elif isinstance(event, e.TurnEnded):
            self._answer()
            self.status = 0 if event.status in ("completed", "skipped") else 1
        elif isinstance(event, e.Routed) and event.decision == "skip":
            self._artefact()
        line = _LINES.get(type(event))
        said = line(event) if line is not None else None
        if said and (not self._quiet or isinstance(event, _WARNINGS)):
            self._say(said)

    def _text(self, text: str) -> None:
        if self._live:
            click.echo(harmless(text), nl=False)
            self._open_line = not text.endswith("\n")
        else:
            self._pending.append(text)

    def _withdrawn(self, event: e.TextWithdrawn) -> None:
        self._pending.clear()
        if self._live:
            self._end_line()
            self._say(f"the text above is withdrawn ({event.reason.replace('_', ' ')})")

    def _answer(self) -> None:
        """An answer is whole: print what waited for that."""
        if self._pending:
            click.echo("".join(self._pending), color=True)  # as it is: nothing is taken out on the way to a file
            self._pending.clear()
        self._end_line()

    def _artefact(self) -> None:
        """The round after the tools is skipped: what they gave is the answer."""
        self._answer()
        named = len(self._results) > 1
        for name, output in self._results.values():
            text = harmless(output) if self._live else output
            click.echo((f"[{printable(name)}]\n" if named else "") + text.removesuffix("\n"), color=True)

    def _end_line(self) -> None:
        if self._open_line:
            click.echo()
            self._open_line = False

    def _say(self, line: str) -> None:
        self._end_line()
        line = printable(line)
        with suppress(OSError):
            # What stands beside the answer is no reason to lose it.
            click.echo(click.style(f"· {line}", dim=True) if self._dim else f"· {line}", err=True)


def _measured(event: e.ContextMeasured) -> str:
    left = f", {thousands(event.left_until_auto)} until compaction" if event.left_until_auto is not None else ""
    tier = f", tier {event.tier}" if event.tier != "none" else ""
    tip = f" – {event.tip_text}" if event.tip_text else ""
    source = "estimated" if event.tokens_source == "estimate" else "from usage"
    return f"context {counted(event.tokens, 'token')} ({source}){left}{tier}{tip}"


def _routed(event: e.Routed) -> str:
    if event.decision == "skip":
        answer = "what the tool gave is the answer; --always-summarize lets the model answer"
        return f"after the tools: skip (prompt is a {event.prompt_class}); {answer}"
    veto = f", veto {event.veto_reason}" if event.veto_reason else f", {event.reason}"
    return f"after the tools: {event.decision}{veto} (prompt is a {event.prompt_class})"


def _windowless(event: e.WindowUnknown) -> str:
    option = "--fast-window" if event.call == "fast" else "--window"
    return f"warning: the window of {event.model} is unknown: {event.instead}; state it with {option} N"


def _tool(event: e.ToolEnded) -> str:
    how = "error, " if event.error else "cancelled, " if event.cancelled else ""
    cut = ", cut" if event.cut else ""
    return f"tool {event.name}: {how}{counted(event.output_bytes, 'byte')}{cut}, {thousands(event.duration_ms)} ms"


def _ended(event: e.RoundEnded) -> str:
    mark = "" if event.tokens.prompt_source == "usage" else " (estimated)"
    cached = f", {thousands(event.tokens.cached)} cached" if event.tokens.cached else ""
    counts = f"{thousands(event.tokens.prompt)} in{cached}, {thousands(event.tokens.output)} out{mark}"
    return f"round {event.round} by {event.model}: {counts}"


_LINES: dict[type, Callable[[Any], str | None]] = {
    e.ContextMeasured: _measured,
    e.RoundStarted: lambda one: f"round {one.round}: {one.tier} model {one.model} ({one.reason})",
    e.RoundEnded: _ended,
    e.ToolEnded: _tool,
    e.Routed: _routed,
    e.FellBack: lambda one: f"fell back from {one.requested} to {one.actual}: {one.reason}",
    e.Retrying: lambda one: f"{one.failure}; trying again in {thousands(one.delay_ms)} ms",
    e.CompactionStarted: lambda one: f"compacting{' (forced)' if one.forced else ''}, cap {counted(one.cap, 'token')}",
    e.CompactionEnded: lambda one: (
        f"compaction {one.outcome}: {thousands(one.tokens_before)} → {counted(one.tokens_after, 'token')}"
    ),
    e.Degraded: lambda one: f"warning: {one.what} failed ({one.error}); {one.how}",
    e.Restored: lambda one: f"{one.what} works again",
    e.LoopSuspected: lambda one: f"stopped: the same {one.what} came {counted(one.times, 'time')}",
    e.WindowUnknown: _windowless,
    e.CapabilityMissing: lambda one: f"{one.message}; {one.instead}",
    e.ToolKindUnknown: lambda one: f"warning: tools of no known kind: {', '.join(one.tools)}; {one.instead}",
    e.FastTurnedOff: lambda one: (
        f"fast routing is off: {one.fallbacks} of {counted(one.fast_rounds, 'fast round')} fell back"
    ),
    e.HistoryRepaired: lambda one: "the saved history was not valid and was repaired",
}
_WARNINGS = (e.Degraded, e.LoopSuspected)
