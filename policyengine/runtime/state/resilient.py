"""A state store that is never in the way: where the real one fails, local state goes on, and it is said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from policyengine.runtime.state.store import Change, MemoryStore, State, StateStore, T


class ResilientStore:
    """Wraps a store. No call raises (but for a cancellation) and none takes much longer than the timeout.

    While the store is down each key goes on from the last state that was seen here. When it is back, what it holds
    counts again: it is what the other processes know. `on_down` gets the kind of the error once an outage, `on_up`
    is called when the store is back.
    """

    def __init__(
        self,
        store: StateStore,
        *,
        timeout_s: float,
        retry_s: float,
        on_down: Callable[[str], None] = lambda error: None,
        on_up: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._timeout_s, self._retry_s = timeout_s, retry_s
        self._on_down, self._on_up = on_down, on_up
        self._clock = clock
        self._local = MemoryStore()
        self._down_since: float | None = None

    @property
    def down(self) -> bool:
        """Whether local state is used at the moment."""
        return self._down_since is not None

    async def get(self, key: str) -> State | None:
        """The state under a key."""

        async def read(seen: list[State | None]) -> State | None:
            seen[:] = [await self._store.get(key)]
            return seen[0]

        return await self._try(key, read, lambda before: (None, before))

    async def update(self, key: str, change: Change[T]) -> T:
        """One step, on the store or, where that fails, on the local state."""

        async def step(seen: list[State | None]) -> T:
            def watched(before: State | None) -> tuple[State | None, T]:
                after, answer = change(before)
                seen[:] = [before if after is None else after]
                return after, answer

            return await self._store.update(key, watched)

        return await self._try(key, step, change)

    async def _try(self, key: str, step: Callable[[list[State | None]], Awaitable[T]], change: Change[T]) -> T:
        """`step` on the store, which leaves the state that it saw; where it fails, `change` on the local state."""
        if self._down_since is not None and self._clock() - self._down_since < self._retry_s:
            return await self._local.update(key, change)
        seen: list[State | None] = []
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await step(seen)
        except Exception as error:
            first = self._down_since is None
            self._down_since = self._clock()
            if first:
                self._on_down(type(error).__name__)
            return await self._local.update(key, change)
        if seen:
            await self._local.update(key, lambda _: (seen[0], None))
        if self._down_since is not None:
            self._down_since = None
            self._on_up()
        return answer

    async def close(self) -> None:
        """Close the store."""
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._store.close()
        except Exception as error:
            self._on_down(type(error).__name__)
