"""State in an SQLite file: survives a restart, and is shared by processes of one machine."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from policyengine.log.foreign import refuse_foreign
from policyengine.log.write_ahead import write_ahead
from policyengine.runtime.state.store import Change, State, T
from policyengine.runtime.stated import stated_as

_BUSY_MS = 2000
_SCHEMA = "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL)"


class SqliteStore:
    """State in the file `path`, made when it is first used. Errors of the database are raised as they are; `InputError`
    for what is no path, and when it is first used for a database of something else."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(stated_as(path, "path", "the path of a file", (str, Path)))
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def get(self, key: str) -> State | None:
        """The state under a key."""
        return await asyncio.to_thread(self._get, key)

    async def update(self, key: str, change: Change[T]) -> T:
        """One step in one transaction, which locks the file for writing from its begin on."""
        return await asyncio.to_thread(self._update, key, change)

    async def close(self) -> None:
        """Close the file."""
        await asyncio.to_thread(self._close)

    def _get(self, key: str) -> State | None:
        with self._lock:
            try:
                row = self._open().execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
            except BaseException:
                self._drop()
                raise
            return _state(row[0]) if row else None

    def _update(self, key: str, change: Change[T]) -> T:
        with self._lock:
            connection = self._open()
            try:
                connection.execute("BEGIN IMMEDIATE")
                row = connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
                after, answer = change(_state(row[0]) if row else None)
                if after is not None:
                    text = json.dumps(dict(after), separators=(",", ":"))
                    connection.execute("INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)", (key, text))
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                self._drop()
                raise
            return answer

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            # Autocommit: transactions are opened above, where they can be seen.
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False
            )
            try:
                refuse_foreign(connection, self._path, "state store", "state", ("key", "value"))
                write_ahead(connection, _BUSY_MS / 1000)
                # Safe against the death of the process; a power cut may take back the last steps, and breaks nothing.
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(_SCHEMA)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _drop(self) -> None:
        """A connection that failed is not used again: the file may have been replaced."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _close(self) -> None:
        with self._lock:
            self._drop()


def _state(text: str) -> State | None:
    """What is stored; None where it is damaged, so that a broken row cannot stop a loop."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
