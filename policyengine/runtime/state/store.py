"""What a state store does, and the one in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

State: TypeAlias = Mapping[str, Any]
T = TypeVar("T")
Change: TypeAlias = Callable[["State | None"], "tuple[State | None, T]"]
"""A pure step: the state before (None where there is none), to the state after (None leaves it) and an answer. It may
be called more than once where another process was faster."""


class StateStore(Protocol):
    """Small JSON objects by key. `update` is atomic over all that share the store."""

    async def get(self, key: str) -> State | None:
        """The state under a key; None where there is none."""
        ...

    async def update(self, key: str, change: Change[T]) -> T:
        """Read, change and write in one step that nobody else can come between."""
        ...

    async def close(self) -> None:
        """Release what is held."""
        ...


class MemoryStore:
    """State in this process: gone when it ends."""

    def __init__(self) -> None:
        self._states: dict[str, State] = {}

    async def get(self, key: str) -> State | None:
        """The state under a key."""
        return self._states.get(key)

    async def update(self, key: str, change: Change[T]) -> T:
        """One step. No other coroutine runs within it."""
        after, answer = change(self._states.get(key))
        if after is not None:
            self._states[key] = dict(after)
        return answer

    async def close(self) -> None:
        """Nothing to release."""
