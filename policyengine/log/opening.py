"""Opening a log by the paths of its files: what most programs need of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.policy import Policy
from policyengine.log.record import Recorder
from policyengine.log.settings import logging_policy, open_sink
from policyengine.log.sinks.own import OneByOne, RecordSink
from policyengine.log.sinks.sink import Sink
from policyengine.log.writer import Log
from policyengine.source.errors import InputError


def open_log(
    bundle: Bundle,
    *to: str | Path | Sink | RecordSink,
    source: Literal["runtime", "eval"] = "runtime",
    show_prompts: bool = False,
    shadow: Bundle | None = None,
) -> Log:
    """A log of a bundle's decisions, as its Logging policy says. Close it, or use `with`.

    - `to`: files (SQLite by the suffix .sqlite, .sqlite3 or .db, JSONL otherwise), `OtelSink`, sinks of your own.
    - `source`: where the decisions are made: `runtime` in an agent, `eval` anywhere else.
    - `show_prompts`: write everything as it is, and mask nothing.
    - `shadow`: a bundle whose decisions on the same inputs are recorded beside, and change nothing.

    Raises `InputError` where a file cannot be written or is something else.
    """
    if not to:
        raise InputError("a log needs a file or a sink to write to")
    recorder = Recorder(bundle, source=source, show_prompts=show_prompts, shadow=shadow)
    policy = logging_policy(bundle)
    return Log(recorder, [_sink(one, policy) for one in to], policy)


def _sink(to: str | Path | Sink | RecordSink, policy: Policy) -> Sink:
    if isinstance(to, str | Path):
        return open_sink(to, policy)
    if hasattr(to, "write_many"):
        return cast(Sink, to)
    if isinstance(to, type) or not hasattr(to, "write"):
        raise InputError(f"a log writes to files and to sinks with `write(record)`, not to {type(to).__name__}")
    return OneByOne(to)
