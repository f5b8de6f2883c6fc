"""What CompressionTriggers is asked before a send, kept up with the history as it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.compression.triggers import Watch
from policyengine.runtime.entries import Entries
from policyengine.runtime.live import Live
from policyengine.runtime.messages import Message


class Triggering:
    """The facts of one session. Messages are looked at once; a history that was cut or cleared is read again."""

    def __init__(self) -> None:
        self._digest = ""
        self._seen: list[Message] = []

    def _start(self, live: Live) -> None:
        self._seen = []
        self._history = Entries()
        self._watch = Watch(live.compressor)
        self._entries = self._rounds = 0

    def _grow(self, messages: Sequence[Message]) -> None:
        self._history.extend(messages)
        self._seen += messages
        self._watch.entries(self._history.entries[self._entries :])
        self._watch.rounds(self._history.rounds[self._rounds :])
        self._entries, self._rounds = len(self._history.entries), len(self._history.rounds)

    def facts(
        self, live: Live, messages: Sequence[Message], cut: int, *, tokens: int, window: int | None
    ) -> Mapping[str, Any] | None:
        """The input of CompressionTriggers; None where the bundle has no such policy.

        `cut` is how many messages a compaction would summarise now. Every call in `messages` has its result.
        """
        if live.loop.triggers is None:
            return None
        known = len(self._seen)
        cut_or_cleared = known > len(messages) or any(
            one is not other for one, other in zip(self._seen, messages, strict=False)
        )
        if self._digest != live.digest or cut_or_cleared:
            self._digest = live.digest
            self._start(live)
        self._grow(messages[len(self._seen) :])
        end = self._history.ends[cut - 1] if cut else 0
        return self._watch.facts(self._history.entries[end:], window=window, tokens=tokens)
