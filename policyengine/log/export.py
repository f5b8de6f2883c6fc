"""Logs as Parquet and back: a column for each field of a record; what has structure is JSON text in its column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from policyengine.log.fields import SCHEMA, plain
from policyengine.source.errors import InputError, MissingExtraError
from policyengine.source.schema import load_schema

_ROWS = 50_000
"""Rows of a row group."""


@lru_cache(maxsize=1)
def columns() -> dict[str, str]:
    """Each field and what its column holds: `string`, `integer`, `boolean` or `json`."""
    found = {}
    for name, schema in load_schema("record")["properties"].items():
        kinds = schema.get("type", "string")
        kind = next((one for one in ([kinds] if isinstance(kinds, str) else kinds) if one != "null"), "string")
        found[name] = "json" if kind in ("array", "object") else kind
    return found


def to_columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a row: fields that have structure as JSON text. A field that no column has raises `InputError`."""
    known = columns()
    row: dict[str, Any] = dict.fromkeys(known)
    for name, value in record.items():
        if name not in known:
            raise InputError(f"the record has a field `{name}` that this version does not know; export it as JSONL")
        row[name] = text(value) if known[name] == "json" and value is not None else value
    return row


def from_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a row."""
    known = columns()
    return {
        name: json.loads(value) if known.get(name) == "json" else value
        for name, value in row.items()
        if value is not None
    }


def text(value: Any) -> str:
    """JSON text, as a log holds it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=plain)


def write_jsonl(records: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write records as JSONL; how many there were."""
    count = 0
    with _opened(path) as file:
        for record in records:
            file.write(text(record).encode("utf-8", "replace") + b"\n")
            count += 1
    return count


def write_parquet(records: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write records as Parquet; how many there were. Raises `MissingExtraError` without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet") from None
    types = {"integer": pyarrow.int64(), "boolean": pyarrow.bool_()}
    schema = pyarrow.schema(
        [(name, types.get(kind, pyarrow.string())) for name, kind in columns().items()],
        metadata={"policyengine.record": SCHEMA},
    )
    count = 0
    with _opened(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _groups(records):
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


def _groups(records: Iterable[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows = map(to_columns, records)
    while group := list(islice(rows, _ROWS)):
        yield group


def _opened(path: Path) -> Any:
    try:
        return path.open("wb")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
