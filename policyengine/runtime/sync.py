"""The sync face: the same sessions for code without an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from policyengine.runtime.events import Event
from policyengine.runtime.messages import Image, Message, Text
from policyengine.runtime.session import Session

T = TypeVar("T")


class SyncSession:
    """A session that is driven from ordinary code. Its loop runs in a thread of its own; close it, or use `with`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="policyengine-session", daemon=True)
        self._thread.start()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as it is now."""
        return self.session.messages

    def send(self, message: str | Sequence[Text | Image], *, model: str | None = None) -> Iterator[Event]:
        """Send a message; the events of the turn. See `Session.send`."""
        return self._events(self.session.send(message, model=model))

    def retry(self) -> Iterator[Event]:
        """Try the last message again. See `Session.retry`."""
        return self._events(self.session.retry())

    def confirm(self, call_id: str, yes: bool) -> bool:
        """Answer a `ConfirmationAsked`, also while events are being read."""

        async def answer() -> bool:
            return self.session.confirm(call_id, yes)

        return self._run(answer())

    def close(self) -> None:
        """Stop what runs, and the thread."""
        if self._loop.is_closed():
            return
        self._run(self.session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _events(self, events: AsyncIterator[Event]) -> Iterator[Event]:
        async def step() -> Event | None:
            return await anext(events, None)

        async def end() -> None:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

        try:
            while (event := self._run(step())) is not None:
                yield event
        finally:
            self._run(end())

    def _run(self, step: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(step, self._loop).result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
