"""Opening the state store that a person names: a Redis URL, or else an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from policyengine.kinds.bundle import Bundle, builtin
from policyengine.runtime.state.sqlite import SqliteStore
from policyengine.runtime.state.store import StateStore
from policyengine.runtime.stated import stated_as
from policyengine.source.errors import InputError

_SETTINGS = "AdapterSettings"
_REDIS = ("redis", "rediss")
"""Schemes of a Redis URL; the second is over TLS."""


def open_store(where: str | Path, *, timeout_s: float | None = None) -> StateStore:
    """The store at a URL (`redis://HOST:PORT/DB`, `rediss://...`) or in an SQLite file.

    `timeout_s` is the longest wait for a server, s (see `RedisStore`).

    Raises `InputError` for a URL that names no such store, `MissingExtraError` where the extra `redis` is missing.
    Whether a server answers is only seen when the store is used: see `store_errors`.
    """
    where = str(stated_as(where, "where", "an SQLite file or a URL redis://HOST:PORT/DB", (str, Path)))
    scheme, separator, _ = where.partition("://")
    if not separator:
        return SqliteStore(where)
    if scheme not in _REDIS:
        raise InputError(
            f"{shown(where)}: no such kind of state store; give an SQLite file or a URL redis://HOST:PORT/DB"
        )
    from policyengine.runtime.state.redis import RedisStore

    try:
        _check(where)
        return RedisStore(where, timeout_s=timeout_s)
    except ValueError as error:
        raise InputError(f"{shown(where)}: no URL of a Redis server ({error}); give redis://HOST:PORT/DB") from None


def store_timeout_s(bundle: Bundle) -> float:
    """How long a bundle lets its adapters wait for the store, s; the built-in settings where it has none."""
    own = bundle if bundle.of_kind(_SETTINGS) else builtin()
    waits: int = own.serving(_SETTINGS).outcome({})["store_timeout_ms"]
    return waits / 1000


@contextmanager
def store_errors(where: str) -> Iterator[None]:
    """Turn what a store raises that cannot be read or written into one clear line. No password is in it."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"{shown(where)}: the state cannot be read or written: {error}") from None
    except Exception as error:
        if not _is_of_redis(error):
            raise
        raise InputError(f"{shown(where)}: the state cannot be read or written: {error}") from None


def shown(where: str) -> str:
    """The name of a store without user, password and options, for errors and logs."""
    if "://" not in where:
        return where
    scheme, _, rest = where.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def _check(url: str) -> None:
    """Refuse what the client would take for something else. Raises `ValueError`, which repeats no password."""
    found = urlsplit(url)
    try:
        _ = found.port
    except ValueError:
        raise ValueError("the port is a number up to 65535") from None
    database = found.path.strip("/")
    if database and not database.isdecimal():
        raise ValueError("the part after the host is the number of a database")


def _is_of_redis(error: Exception) -> bool:
    try:
        from redis.exceptions import RedisError
    except ImportError:
        return False
    return isinstance(error, RedisError)
