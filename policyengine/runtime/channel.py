"""Events from a turn to whoever reads them: in order, with a bound on how far the turn may run ahead."""

from __future__ import annotations

import asyncio
from collections import deque

from policyengine.runtime.events import Event, ReasoningChunk, TextChunk

_AHEAD = 256
"""Events that may wait unread before the turn does."""
_BURST = 16
"""Events after which the reader has its turn, also where the next chunk is there already."""


class Channel:
    """One writer, one reader."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._wake: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._closed = False
        self._in_text = False
        self._urgent = False

    def put(self, event: Event) -> None:
        """Take an event. Never waits; see `flow`."""
        self._events.append(event)
        text = isinstance(event, TextChunk)
        self._urgent = self._urgent or (text and not self._in_text)
        self._in_text = text
        _done(self._wake)

    async def flow(self) -> None:
        """Let the reader read the first text and every burst at once, and wait while it is far behind."""
        if self._urgent or len(self._events) >= _BURST:
            self._urgent = False
            await asyncio.sleep(0)
        while len(self._events) > _AHEAD and not self._closed:
            self._room = asyncio.get_running_loop().create_future()
            await self._room

    def drop_text(self) -> None:
        """Take back text that nobody has read yet."""
        self._events = deque(e for e in self._events if not isinstance(e, TextChunk | ReasoningChunk))

    def close(self) -> None:
        """No event follows."""
        self._closed = True
        _done(self._wake)
        _done(self._room)

    async def get(self) -> Event | None:
        """The next event; None after the last."""
        while not self._events:
            if self._closed:
                return None
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
        event = self._events.popleft()
        if len(self._events) <= _AHEAD // 2:
            _done(self._room)
        return event


def _done(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
