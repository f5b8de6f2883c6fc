"""The Logging policy of a bundle, and sinks opened as it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.policy import Policy
from policyengine.log.chain import body
from policyengine.log.recognise import SQLITE_SUFFIXES
from policyengine.log.sinks.jsonl import JsonlSink
from policyengine.log.sinks.sink import Item, Sink, SinkError, as_input_error
from policyengine.source.resources import policies_folder


def logging_policy(bundle: Bundle | None = None) -> Policy:
    """The bundle's own Logging policy; the built-in one where it has none."""
    return bundle.serving("Logging") if bundle is not None and bundle.of_kind("Logging") else _default()


def open_sink(path: str | Path, policy: Policy | None = None) -> Sink:
    """A sink for a file: SQLite by its suffix (.sqlite, .sqlite3, .db), JSONL otherwise. Raises `InputError`."""
    settings = (policy or logging_policy()).spec
    if Path(path).suffix in SQLITE_SUFFIXES:
        from policyengine.log.sinks.sqlite import SqliteSink

        return SqliteSink(path, fsync=settings["fsync"])
    return JsonlSink(
        path,
        rotate_bytes=settings["rotate_bytes"],
        rotate_seconds=settings["rotate_seconds"],
        fsync=settings["fsync"],
    )


@contextmanager
def appending(path: str | Path, policy: Policy) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """A function that writes one record to a sink for `path`. Raises `InputError`, also from that function."""
    sink = open_sink(path, policy)

    def write(record: Mapping[str, Any]) -> None:
        sink.write_many([Item(record, body(record))])

    try:
        try:
            yield write
        finally:
            sink.close()
    except SinkError as error:
        raise as_input_error(error) from None


@lru_cache(maxsize=1)
def _default() -> Policy:
    return load(policies_folder() / "logging.yaml").serving("Logging")
