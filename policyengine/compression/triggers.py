"""What CompressionTriggers is asked before a send: facts of the history, worked out one way for all callers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policyengine.cel.functions import mentions
from policyengine.compression.building import word_list
from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.history import Entry
from policyengine.compression.index import ArtefactIndex
from policyengine.kinds.loop import Made

WORDS = "near_completion"
"""Word list of what a person says when a task is about to end."""


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
    compressor: Compressor, history: Sequence[Entry], index: ArtefactIndex, *, window: int | None, tokens: int
) -> dict[str, Any]:
    """The input of CompressionTriggers."""
    plan = compressor.plan(history, index, wish=Wish())
    span = plan.job.cut.span if plan is not None else ()
    said = [e for e in history if e.role == "user" and e.kind == "text" and e.text and not e.summary]
    said = [entry for entry in said if not compressor.indexer.is_injected(entry.text or "")]
    summary = max((index for index, entry in enumerate(history) if entry.summary), default=-1)
    return {
        "prompt": (said[-1].text or "") if said else "",
        "tier": compressor.loop.thresholds(window, tokens)["tier"],
        "tokens": tokens,
        "window": window,
        "span_tokens": compressor.tokens(span),
        "stale_tokens": compressor.tokens(stale(compressor, history, span)),
        "turns_since_summary": len({entry.turn for entry in history[summary + 1 :]}),
        "messages_since_ending": _since_ending(history, said, word_list(compressor.loop, WORDS)),
        "task_boundary": task_boundary(index),
    }


def stale(compressor: Compressor, history: Sequence[Entry], span: Sequence[Entry]) -> list[Entry]:
    """Results in the span that show a file as it was: it was read or changed again later in the history."""
    latest: dict[str, int] = {}
    read_by: dict[str, set[str]] = {}
    for entry in history:
        if entry.call is None or entry.call_id is None:
            continue
        for touch in compressor.indexer.artefacts.map(entry.call.name, entry.call.arguments).touches:
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


def _since_ending(history: Sequence[Entry], said: Sequence[Entry], words: tuple[str, ...]) -> int | None:
    signs = [entry.number for entry in said if mentions(entry.text or "", words)]
    if not signs:
        return None
    return len({(entry.round, entry.role) for entry in history if entry.number > signs[-1]})
