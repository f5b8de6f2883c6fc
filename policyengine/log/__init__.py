"""Decision records: what was decided, on what, by which policy of which bundle, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policyengine.source.lazy import lazy

if TYPE_CHECKING:
    from policyengine.kinds.made import Made as Made
    from policyengine.log.opening import open_log as open_log
    from policyengine.log.record import Recorder as Recorder
    from policyengine.log.settings import open_sink as open_sink
    from policyengine.log.sinks.jsonl import JsonlSink as JsonlSink
    from policyengine.log.sinks.otel import OtelSink as OtelSink
    from policyengine.log.sinks.own import RecordSink as RecordSink
    from policyengine.log.sinks.sqlite import SqliteSink as SqliteSink
    from policyengine.log.writer import Log as Log

_HOMES = {
    "JsonlSink": "policyengine.log.sinks.jsonl",
    "Log": "policyengine.log.writer",
    "Made": "policyengine.kinds.made",
    "OtelSink": "policyengine.log.sinks.otel",
    "Recorder": "policyengine.log.record",
    "RecordSink": "policyengine.log.sinks.own",
    "SqliteSink": "policyengine.log.sinks.sqlite",
    "open_log": "policyengine.log.opening",
    "open_sink": "policyengine.log.settings",
}
__all__ = list(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
