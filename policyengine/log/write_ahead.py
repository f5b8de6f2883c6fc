"""SQLite's write-ahead mode, also where several open a new file at the same moment."""

from __future__ import annotations

import sqlite3
import time
from typing import Final

_STEP_S: Final = 0.01


def write_ahead(database: sqlite3.Connection, wait_s: float) -> None:
    """Put a database into write-ahead mode. Raises `sqlite3.OperationalError` where it stays locked for `wait_s`
    seconds.

    SQLite itself does not wait here, whatever the connection's timeout is: of two that change the mode of a new file
    at once, one is told at once that the file is locked.
    """
    until = time.monotonic() + wait_s
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            if time.monotonic() >= until:
                raise
        time.sleep(_STEP_S)
