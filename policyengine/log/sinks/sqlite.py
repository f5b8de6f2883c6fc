"""SQLite: one row a record, in write-ahead mode, so that others can read while it is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from policyengine.log.chain import Chain
from policyengine.log.foreign import refuse_foreign
from policyengine.log.read import TABLE
from policyengine.log.sinks.jsonl import Fsync
from policyengine.log.sinks.sink import Item, SinkError, as_input_error
from policyengine.log.write_ahead import write_ahead
from policyengine.source.errors import InputError

_CREATE = f"""
CREATE TABLE IF NOT EXISTS {TABLE} (
  seq INTEGER PRIMARY KEY,
  time TEXT,
  kind TEXT,
  session_id TEXT,
  record TEXT NOT NULL
)"""
_COLUMNS = ("seq", "time", "kind", "session_id", "record")
_WAIT_S = 5.0
"""How long somebody else may lock the file, seconds: what SQLite's own connections wait."""
_SYNCHRONOUS = {"never": "OFF", "close": "NORMAL", "batch": "FULL"}


class SqliteSink:
    """Appends records to the table `records`; `record` holds the same line that a JSONL log would.

    One transaction a batch. Raises `InputError` where the database cannot be opened, or is one of something else.
    """

    kind = "sqlite"

    def __init__(self, path: str | Path, *, fsync: Fsync = "close") -> None:
        self._path = Path(path)
        self.chain = Chain()
        try:
            # The writing thread is another one than this; every later call comes from there.
            self._db = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
            try:
                refuse_foreign(self._db, self._path, "decision log", TABLE, _COLUMNS)
            except InputError:
                self._db.close()
                raise
            write_ahead(self._db, _WAIT_S)
            self._db.execute(f"PRAGMA synchronous={_SYNCHRONOUS[fsync]}")
            self._db.execute(_CREATE)
            row = self._db.execute(f"SELECT seq, record FROM {TABLE} ORDER BY seq DESC LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise as_input_error(self._error(error)) from None
        if row is not None:
            self.chain.seq = row[0]
            self.chain.value = row[1][-66:-2]

    def write_many(self, items: Sequence[Item]) -> None:
        """Write a batch in one transaction: all of it or nothing. Raises `SinkError`."""
        before = self.chain.copy()
        rows = []
        for item in items:
            line = self.chain.line(item.body).decode()
            record = item.record
            rows.append((self.chain.seq, record.get("time"), record.get("kind"), record.get("session_id"), line))
        try:
            self._db.execute("BEGIN")
            self._db.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self.chain = before
            if self._db.in_transaction:
                self._db.rollback()
            raise self._error(error) from None

    def lost(self, count: int) -> None:
        """So many records were lost before the next one."""
        self.chain.dropped += count

    def close(self) -> None:
        """Close the database. Raises `SinkError`."""
        try:
            self._db.close()
        except sqlite3.Error as error:
            raise self._error(error) from None

    def _error(self, error: sqlite3.Error) -> SinkError:
        code = {"SQLITE_FULL": "ENOSPC", "SQLITE_READONLY": "EROFS"}.get(getattr(error, "sqlite_errorname", ""))
        return SinkError(f"{self._path}: the log cannot be written: {error}", code=code)
