"""State in Redis: shared by processes of several machines (extra `redis`)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from policyengine.kinds.bundle import builtin
from policyengine.runtime.state.store import Change, State, T
from policyengine.runtime.stated import stated_as, stated_text
from policyengine.source.errors import InputError, MissingExtraError, PolicyEngineError

if TYPE_CHECKING:
    from redis.asyncio import Redis

_TRIES = 50


class StateConflictError(PolicyEngineError):
    """Other processes kept changing a key."""

    def __init__(self) -> None:
        super().__init__("the shared state could not be changed: other processes changed it each time")


class RedisStore:
    """State under `prefix` in the Redis at `url`. Nothing is reset on joining: what is there counts.

    - `url` may hold a password; it appears in no error and no log of ours.
    - `timeout_s`: longest wait for the server, s; without it `store_timeout_ms` of the built-in AdapterSettings. Where
      a bundle of your own allows more, state it here too.

    Raises `InputError` for what is no URL of Redis and no time, `MissingExtraError` where the extra is not installed.
    """

    def __init__(self, url: str, *, prefix: str = "policyengine:", timeout_s: float | None = None) -> None:
        try:
            from redis.asyncio import from_url
        except ImportError:
            raise MissingExtraError("redis", "redis", "a shared state store") from None
        self._prefix = prefix
        stated_text(url, "url", empty=False)
        if timeout_s is None:
            timeout_s = builtin().serving("AdapterSettings").outcome({})["store_timeout_ms"] / 1000
        stated_as(timeout_s, "timeout_s", "a number of seconds above 0, or None", _is_time)
        try:
            self._redis: Redis = from_url(url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s)
        except ValueError:
            # What the client says may repeat the URL, and with it a password.
            raise InputError("url is no URL of a Redis server; give redis://HOST:PORT/DB") from None

    async def get(self, key: str) -> State | None:
        """The state under a key."""
        return _state(await self._redis.get(self._prefix + key))

    async def update(self, key: str, change: Change[T]) -> T:
        """One step: watched, so that it is made anew where another process changed the key in between."""
        from redis.exceptions import WatchError

        name = self._prefix + key
        async with self._redis.pipeline(transaction=True) as pipe:
            for _ in range(_TRIES):
                try:
                    await pipe.watch(name)
                    after, answer = change(_state(await pipe.get(name)))
                    if after is None:
                        await pipe.unwatch()  # type: ignore[no-untyped-call]
                        return answer
                    pipe.multi()  # type: ignore[no-untyped-call]
                    pipe.set(name, json.dumps(dict(after), separators=(",", ":")))
                    await pipe.execute()
                    return answer
                except WatchError:
                    continue
        raise StateConflictError

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _state(value: Any) -> State | None:
    if value is None:
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
