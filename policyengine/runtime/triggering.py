"""What CompressionTriggers is asked before a send, kept up with the history as it grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.compression.index import ArtefactIndex
from policyengine.compression.triggers import Looks, facts
from policyengine.runtime.entries import Entries
from policyengine.runtime.live import Live
from policyengine.runtime.messages import Message


class Triggering:
    """The facts of one session. Messages are looked at once; a history that was cut or cleared is read again."""

    def __init__(self) -> None:
        self._digest = ""
        self._start(())

    def _start(self, messages: Sequence[Message]) -> None:
        self._seen: list[Message] = []
        self._entries = Entries()
        self._index = ArtefactIndex()
        self._looks: Looks | None = None
        self._grow(messages)

    def _grow(self, messages: Sequence[Message]) -> None:
        self._entries.extend(messages)
        self._seen += messages

    def facts(
        self, live: Live, messages: Sequence[Message], cut: int, *, tokens: int, window: int | None
    ) -> Mapping[str, Any] | None:
        """The input of CompressionTriggers; None where the bundle has no such policy.

        `cut` is how many messages a compaction would summarise now. Every call in `messages` has its result.
        """
        if not live.bundle.of_kind("CompressionTriggers"):
            return None
        if self._digest != live.digest:
            self._digest = live.digest
            self._compressor = live.compressor
            self._start(())
        known = len(self._seen)
        if known > len(messages) or any(one is not other for one, other in zip(self._seen, messages, strict=False)):
            self._start(messages)
        else:
            self._grow(messages[known:])
        history = self._entries
        fresh = history.rounds[self._index.rounds :]
        if fresh:
            self._index = self._compressor.indexer.extended(self._index, fresh)
        end = history.ends[cut - 1] if cut else 0
        span = [entry for entry in history.entries[:end] if not entry.summary]
        self._looks = self._looks or Looks(self._compressor)
        return facts(
            self._compressor,
            history.entries,
            self._index,
            window=window,
            tokens=tokens,
            span=span,
            looks=self._looks,
        )
