"""SQL over logs, with DuckDB: the table is called `log`, its columns are the fields of a record."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from policyengine.log.export import columns
from policyengine.log.read import lines_of
from policyengine.log.recognise import SQLITE_SUFFIXES
from policyengine.source.errors import InputError, MissingExtraError

_TYPES = {"integer": "BIGINT", "boolean": "BOOLEAN", "json": "JSON", "string": "VARCHAR"}


def query(files: Sequence[Path], text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and rows of a query over log files. Raises `InputError`, `MissingExtraError`."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "sql", "`policyengine log sql`") from None
    database = duckdb.connect()
    try:
        with _tables(files) as (relations, paths):
            try:
                # The query may read the logs and nothing else: no other file, no network, no extension.
                database.execute(f"SET allowed_paths = [{_listed(paths)}]")
                database.execute("SET enable_external_access = false")
                database.execute("SET lock_configuration = true")
                database.execute(f"CREATE VIEW log AS {' UNION ALL BY NAME '.join(relations)}")
                found = database.execute(text)
                if found is None:
                    raise InputError("SQL: the query is empty; for example: select kind, count(*) from log group by 1")
                names = [one[0] for one in found.description or ()]
                return names, found.fetchall()
            except duckdb.Error as error:
                # What follows the first line points into the query with carets.
                raise InputError(f"SQL: {str(error).strip().splitlines()[0][:300]}") from None
    finally:
        database.close()


@contextmanager
def _tables(files: Sequence[Path]) -> Iterator[tuple[list[str], list[Path]]]:
    """How DuckDB reads each kind of file, and which files those are.

    SQLite goes through a copy: DuckDB would fetch an extension for it.
    """
    jsonl = [path for path in files if path.suffix not in (".parquet", *SQLITE_SUFFIXES)]
    parquet = [path for path in files if path.suffix == ".parquet"]
    with tempfile.TemporaryDirectory(prefix="policyengine-") as folder:
        for number, path in enumerate(one for one in files if one.suffix in SQLITE_SUFFIXES):
            copy = Path(folder) / f"{number}.jsonl"
            with copy.open("wb") as file:
                file.writelines(lines_of(path))
            jsonl.append(copy)
        relations = []
        if jsonl:
            known = ", ".join(f"{name}: '{_TYPES[kind]}'" for name, kind in columns().items())
            relations.append(
                f"SELECT * FROM read_json([{_listed(jsonl)}], format='newline_delimited', columns={{{known}}}, "
                "ignore_errors=true)"
            )
        if parquet:
            relations.append(f"SELECT * FROM read_parquet([{_listed(parquet)}], union_by_name=true)")
        yield relations, [*jsonl, *parquet]


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
