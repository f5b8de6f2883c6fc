"""Sinks: where decision records go."""

from policyengine.log.sinks.jsonl import JsonlSink
from policyengine.log.sinks.sink import Item, Sink, SinkError

__all__ = ["Item", "JsonlSink", "Sink", "SinkError"]
