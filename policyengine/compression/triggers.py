"""What CompressionTriggers is asked before a send: facts of the history, worked out one way for all callers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from policyengine.cel.functions import mentions
from policyengine.compression.building import Building, word_list
from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.history import Entry
from policyengine.compression.index import ArtefactIndex
from policyengine.kinds.made import Made
from policyengine.kinds.prompt_size import Sizes
from policyengine.sessions.model import Round

WORDS = "near_completion"
"""Word list of what a person says when a task is about to end."""


class Watch:
    """One context that grows, asked about before each send. Every entry and every round is looked at once."""

    def __init__(self, compressor: Compressor) -> None:
        self._compressor = compressor
        self._words = word_list(compressor.loop, WORDS)
        self._building = Building(compressor.indexer)
        self._all, self._stale = _Total(), _Total()
        self._reads = _Reads(compressor)
        self._prompt = ""
        self._turns: set[int] = set()
        self._since_ending: set[tuple[int, str]] | None = None

    def entries(self, entries: Iterable[Entry]) -> None:
        """Take what was added to the history."""
        for entry in entries:
            if entry.summary:
                self._turns.clear()
            else:
                self._all.add(entry, 1)
                self._turns.add(entry.turn)
            for result, sign in self._reads.take(entry):
                self._stale.add(result, sign)
            if self._said(entry):
                self._prompt = entry.text or ""
                if mentions(self._prompt, self._words):
                    self._since_ending = set()
                    continue
            if self._since_ending is not None:
                self._since_ending.add((entry.round, entry.role))

    def rounds(self, rounds: Iterable[Round]) -> None:
        """Take rounds that have their answer."""
        for item in rounds:
            self._building.round(item)

    def facts(
        self, outside: Iterable[Entry], *, window: int | None, tokens: int, index: ArtefactIndex | None = None
    ) -> dict[str, Any]:
        """The input of CompressionTriggers, but for the ladder's `tier`.

        `outside` are the entries that a compaction would not take away, `tokens` is the size of the next prompt.
        `index` comes in place of the one over the rounds that were taken.
        """
        span, stale = self._all.copy(), self._stale.copy()
        for entry in outside:
            if not entry.summary:
                span.add(entry, -1)
            if self._reads.is_stale(entry):
                stale.add(entry, -1)
        loop = self._compressor.loop
        return {
            "prompt": self._prompt,
            "tokens": tokens,
            "window": window,
            "span_tokens": loop.size_tokens(span.sizes()),
            "stale_tokens": loop.size_tokens(stale.sizes()),
            "turns_since_summary": len(self._turns),
            "messages_since_ending": None if self._since_ending is None else len(self._since_ending),
            "task_boundary": task_boundary(self._building.done() if index is None else index),
        }

    def _said(self, entry: Entry) -> bool:
        """Whether a person wrote it."""
        if entry.role != "user" or entry.kind != "text" or not entry.text or entry.summary:
            return False
        return not self._compressor.indexer.is_injected(entry.text)


class _Total:
    """How large entries are together; thinking is not sent again and does not count."""

    def __init__(self, text: int = 0, data: int = 0, images: int = 0) -> None:
        self._text, self._data, self._images = text, data, images

    def add(self, entry: Entry, sign: int) -> None:
        if entry.kind == "text":
            self._text += sign * entry.bytes
        elif entry.kind in ("image", "document"):
            self._images += sign
        elif entry.kind != "thinking":
            self._data += sign * entry.bytes

    def copy(self) -> _Total:
        return _Total(self._text, self._data, self._images)

    def sizes(self) -> Sizes:
        return Sizes(self._text, self._data, self._images)


class _Reads:
    """Results that show a file as it was: it was read or changed again later in the history."""

    def __init__(self, compressor: Compressor) -> None:
        self._artefacts = compressor.indexer.artefacts
        self._current: dict[str, set[str]] = {}
        """Files that the result of a call shows as they are, by the call's id; none left is stale."""
        self._readers: dict[str, set[str]] = {}
        """Calls whose results show a file as it is."""
        self._results: dict[str, list[Entry]] = {}

    def take(self, entry: Entry) -> list[tuple[Entry, int]]:
        """Results that an entry makes stale (1), or no longer stale (-1)."""
        if entry.call is not None and entry.call_id is not None:
            return self._call(entry.call_id, entry)
        if entry.role == "tool" and entry.call_id in self._current:
            self._results.setdefault(entry.call_id, []).append(entry)
            return [(entry, 1)] if self.is_stale(entry) else []
        return []

    def is_stale(self, entry: Entry) -> bool:
        """Whether every file that this result shows was touched again."""
        return entry.role == "tool" and self._current.get(entry.call_id or "", True) == set()

    def _call(self, call_id: str, entry: Entry) -> list[tuple[Entry, int]]:
        assert entry.call is not None
        touches = self._artefacts.map(entry.call.name, entry.call.arguments).touches
        changes: list[tuple[Entry, int]] = []
        for path in {touch.path for touch in touches}:
            for reader in self._readers.pop(path, ()):
                self._current[reader].discard(path)
                if not self._current[reader]:
                    changes += ((result, 1) for result in self._results.get(reader, ()))
        read = {touch.path for touch in touches if touch.action == "read"}
        if read:
            if self._current.get(call_id, True) == set():
                # An id that is used again: what is shown under it is of now.
                changes += ((result, -1) for result in self._results.get(call_id, ()))
            self._current.setdefault(call_id, set()).update(read)
            for path in read:
                self._readers.setdefault(path, set()).add(call_id)
        return changes


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
    tier = compressor.loop.ladder.outcome({"window": window, "tokens": count})["tier"]
    given = {**facts(compressor, history, index, window=window, tokens=count), "tier": tier}
    return Made(policy, given, policy.decide(given))


def facts(
    compressor: Compressor, history: Sequence[Entry], index: ArtefactIndex, *, window: int | None, tokens: int
) -> dict[str, Any]:
    """The input of CompressionTriggers, but for the ladder's `tier`, for a whole history.

    The bundle's own plan says what would be cut.
    """
    watch = Watch(compressor)
    watch.entries(history)
    plan = compressor.plan(history, index, wish=Wish())
    taken = plan.job.cut if plan is not None else None
    outside = history if taken is None else (*taken.pinned, *taken.standing, *taken.kept)
    return watch.facts(outside, window=window, tokens=tokens, index=index)


def task_boundary(index: ArtefactIndex) -> bool:
    """Whether a task has just ended: committed in the last round, nothing changed since, and no step of a plan open."""
    return (
        index.last_commit is not None
        and index.last_commit >= index.rounds
        and not index.uncommitted
        and all(step.done for step in index.plan)
    )
