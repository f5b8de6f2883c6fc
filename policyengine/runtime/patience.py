"""A bound on how long a stream may keep silent, which costs next to nothing while it does not."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Patience:
    """Raises `TimeoutError` in its block where more time passes than was allowed for the wait at hand.

    One timer serves all waits: when it goes off and the wait is another one by then, it is set again. A timer an event
    would cost more than reading the event.
    """

    def __init__(self) -> None:
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None

    async def __aenter__(self) -> Patience:
        await self._timeout.__aenter__()
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._timeout.__aexit__(kind, error, trace)

    def allow(self, seconds: float) -> None:
        """A wait begins, of so long at most."""
        self._deadline = deadline = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > deadline:
            self._set(deadline)

    def rest(self) -> None:
        """The wait is over."""
        self._deadline = None

    def _set(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._deadline > self._loop.time():
            self._set(self._deadline)
        else:
            self._timeout.reschedule(self._loop.time())
