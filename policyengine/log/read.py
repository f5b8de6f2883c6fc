"""Reading logs: JSONL (also a folder of such files), SQLite and Parquet, one record after the other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policyengine.log.foreign import runs_code
from policyengine.log.lines import parse
from policyengine.log.recognise import SQLITE_SUFFIXES, SUFFIXES, refuse_others
from policyengine.source.errors import InputError, MissingExtraError

TABLE = "records"
"""The table of a SQLite log."""


@dataclass(slots=True)
class Unreadable:
    """How many lines of a log could not be read, and the first of them."""

    count: int = 0
    first: str | None = None

    def add(self, place: str) -> None:
        """Count one."""
        self.count += 1
        self.first = self.first or place


def log_files(paths: Sequence[str | Path]) -> list[Path]:
    """The files that are meant: a folder stands for the logs in it, in order of their names.

    Raises `InputError` where a file is not there or is no decision log, and where none of them holds a record.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES and one.is_file())
            if not inside:
                raise InputError(f"{path}: there is no log (*.jsonl, *.parquet, *.sqlite) in this folder")
            found += inside
        elif not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        else:
            found.append(path)
    refuse_others(found)
    return found


def records(path: Path, unreadable: Unreadable | None = None) -> Iterator[dict[str, Any]]:
    """Every record of a file, in order. Lines that are no record are counted in `unreadable`. Raises `InputError`."""
    unreadable = unreadable if unreadable is not None else Unreadable()
    if path.suffix == ".parquet":
        yield from parquet_records(path)
        return
    for number, line in enumerate(lines_of(path), 1):
        record = parse(line)
        if record is None:
            if line.strip():
                unreadable.add(f"{path}:{number}")
        else:
            yield record


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a JSONL or SQLite log, as a sink wrote them, with their newlines. Raises `InputError`."""
    if path.suffix == ".parquet":
        raise InputError(f"{path}: Parquet holds no lines; give the log that it was exported from")
    return _sqlite(path) if path.suffix in SQLITE_SUFFIXES else _lines(path)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _sqlite(path: Path) -> Iterator[bytes]:
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        database.text_factory = bytes
        try:
            if runs_code(database, TABLE):
                raise InputError(f"{path}: is no log: its `{TABLE}` is a view, or has triggers")
            for (line,) in database.execute(f"SELECT record FROM {TABLE} ORDER BY seq"):
                yield line + b"\n" if isinstance(line, bytes) else b"%a\n" % line
        finally:
            database.close()
    except sqlite3.Error as error:
        raise InputError(f"{path}: is no log: {error}") from None


def row_groups(path: Path) -> int:
    """How many row groups a Parquet file has. Raises `InputError`, `MissingExtraError`."""
    count: int = _opened(path).num_row_groups
    return count


def row_group(path: Path, number: int) -> Iterator[dict[str, Any]]:
    """The records of one row group of a Parquet file."""
    from policyengine.log.export import from_columns

    for batch in _opened(path).iter_batches(row_groups=[number]):
        yield from map(from_columns, batch.to_pylist())


def parquet_records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a Parquet file. Raises `InputError`, `MissingExtraError`."""
    for number in range(row_groups(path)):
        yield from row_group(path, number)


def _opened(path: Path) -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "reading Parquet") from None
    try:
        return parquet.ParquetFile(path)
    except Exception as error:
        raise InputError(f"{path}: is no Parquet file: {str(error).splitlines()[0]}") from None
