"""SQLite files that belong to somebody else: nothing of ours is written into them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from policyengine.source.errors import InputError
from policyengine.source.text import shown_path


class ForeignDatabaseError(InputError):
    """A SQLite database of something else."""


def refuse_foreign(
    database: sqlite3.Connection, path: str | Path, what: str, table: str, columns: Sequence[str]
) -> None:
    """Raises `ForeignDatabaseError` for a database that has tables, and no `table` with these columns among them.

    `what` says what the file would be, as in "is no decision log". Ask before anything else: already the mode of a
    journal is written into the file. An empty database may become anybody's.
    """
    tables = [
        name
        for (name,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
    ]
    if not tables:
        return
    why = f"it is an SQLite database without the table `{table}`"
    if runs_code(database, table):
        why = f"its `{table}` is a view, or has triggers"
    elif table in tables:
        if [row[0] for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))] == list(columns):
            return
        why = f"its table `{table}` has other columns"
    raise ForeignDatabaseError(
        f"{shown_path(path)}: this file is no {what} ({why}), and nothing was written to it; give another file"
    )


def runs_code(database: sqlite3.Connection, table: str) -> bool:
    """Whether using a table runs what the file says: as a view or by triggers, without end where it likes.

    Ours is neither. A name of SQLite's is the same in upper and lower case.
    """
    asked = "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger') AND lower(tbl_name) = ? LIMIT 1"
    return database.execute(asked, (table,)).fetchone() is not None
