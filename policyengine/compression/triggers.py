"""What CompressionTriggers is asked before a send: facts of the history, worked out one way for all callers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policyengine.cel.functions import mentions
from policyengine.compression.building import word_list
from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.history import Entry
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.mapping import Touch
from policyengine.kinds.loop import Made

WORDS = "near_completion"
"""Word list of what a person says when a task is about to end."""


class Looks:
    """What single entries of one history show. Each is looked at once: a history grows, and is asked about again."""

    def __init__(self, compressor: Compressor) -> None:
        self._compressor = compressor
        self._words = word_list(compressor.loop, WORDS)
        self._touches: dict[int, tuple[Touch, ...]] = {}
        self._said: dict[int, bool] = {}
        self._ending: dict[int, bool] = {}

    def touches(self, entry: Entry) -> tuple[Touch, ...]:
        """The files that a call touches."""
        found = self._touches.get(entry.number)
        if found is None:
            call = entry.call
            mapped = self._compressor.indexer.artefacts.map(call.name, call.arguments) if call is not None else None
            found = self._touches[entry.number] = mapped.touches if mapped is not None else ()
        return found

    def said(self, entry: Entry) -> bool:
        """Whether a person wrote it."""
        if entry.role != "user" or entry.kind != "text" or not entry.text or entry.summary:
            return False
        found = self._said.get(entry.number)
        if found is None:
            found = self._said[entry.number] = not self._compressor.indexer.is_injected(entry.text)
        return found

    def ending(self, entry: Entry) -> bool:
        """Whether it says that a task is about to end."""
        found = self._ending.get(entry.number)
        if found is None:
            found = self._ending[entry.number] = mentions(entry.text or "", self._words)
        return found


def asked(
    compressor: Compressor,
    history: Sequence[Entry],
    index: ArtefactIndex,
    *,
    window: int | None,
    tokens: int | None = None,
) -> Made:
    """Whether this history is worth compressing now. `tokens` is the size of the next prompt where it is known.

    Raises InputError where the bundle has no CompressionTriggers policy.
    """
    policy = compressor.loop.bundle.serving("CompressionTriggers")
    count = compressor.tokens(history) if tokens is None else tokens
    given = facts(compressor, history, index, window=window, tokens=count)
    return Made(policy, given, policy.decide(given))


def facts(
    compressor: Compressor,
    history: Sequence[Entry],
    index: ArtefactIndex,
    *,
    window: int | None,
    tokens: int,
    span: Sequence[Entry] | None = None,
    looks: Looks | None = None,
) -> dict[str, Any]:
    """The input of CompressionTriggers.

    `span` is what would be cut; without it, what the bundle's own plan cuts. `looks` remembers entries between calls
    about one history.
    """
    looks = looks or Looks(compressor)
    if span is None:
        plan = compressor.plan(history, index, wish=Wish())
        span = plan.job.cut.span if plan is not None else ()
    said = [entry for entry in history if looks.said(entry)]
    summary = max((index for index, entry in enumerate(history) if entry.summary), default=-1)
    return {
        "prompt": (said[-1].text or "") if said else "",
        "tier": compressor.loop.thresholds(window, tokens)["tier"],
        "tokens": tokens,
        "window": window,
        "span_tokens": compressor.tokens(span),
        "stale_tokens": compressor.tokens(stale(history, span, looks)),
        "turns_since_summary": len({entry.turn for entry in history[summary + 1 :]}),
        "messages_since_ending": _since_ending(history, [entry for entry in said if looks.ending(entry)]),
        "task_boundary": task_boundary(index),
    }


def stale(history: Sequence[Entry], span: Sequence[Entry], looks: Looks) -> list[Entry]:
    """Results in the span that show a file as it was: it was read or changed again later in the history."""
    latest: dict[str, int] = {}
    read_by: dict[str, set[str]] = {}
    for entry in history:
        if entry.call is None or entry.call_id is None:
            continue
        for touch in looks.touches(entry):
            latest[touch.path] = entry.number
            if touch.action == "read":
                read_by.setdefault(entry.call_id, set()).add(touch.path)
    calls = {entry.call_id: entry.number for entry in history if entry.call is not None}
    return [
        entry
        for entry in span
        if entry.role == "tool"
        and (paths := read_by.get(entry.call_id or ""))
        and all(latest[path] > calls[entry.call_id] for path in paths)
    ]


def task_boundary(index: ArtefactIndex) -> bool:
    """Whether a task has just ended: committed in the last round, nothing changed since, and no step of a plan open."""
    return (
        index.last_commit is not None
        and index.last_commit >= index.rounds
        and not index.uncommitted
        and all(step.done for step in index.plan)
    )


def _since_ending(history: Sequence[Entry], signs: Sequence[Entry]) -> int | None:
    if not signs:
        return None
    return len({(entry.round, entry.role) for entry in history if entry.number > signs[-1].number})
