"""OpenTelemetry: one log record a decision, for a collector.

Needs the extra `otel`. Where to, and with which headers, comes from the standard variables of OpenTelemetry
(OTEL_EXPORTER_OTLP_ENDPOINT, ...).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from policyengine.log.sinks.sink import Item, SinkError
from policyengine.source.errors import MissingExtraError

PREFIX = "policyengine."
_NOT_ATTRIBUTES = frozenset({"schema", "time", "input", "outcome", "rules", "errors", "trace", "shadow", "masked"})
EVENT = "policyengine.decision"


class OtelSink:
    """Hands records to an OpenTelemetry logger: scalar fields as attributes, the whole record as the body.

    `provider` is a logger provider of the OpenTelemetry SDK; without one, a provider that sends over OTLP/HTTP in
    batches. Raises `MissingExtraError` where the SDK is not installed.
    """

    kind = "otel"

    def __init__(self, provider: Any = None) -> None:
        try:
            from opentelemetry._logs import LogRecord, SeverityNumber
        except ImportError:
            raise MissingExtraError("opentelemetry-sdk", "otel", "sending records to OpenTelemetry") from None
        self._record, self._severity = LogRecord, SeverityNumber.INFO
        self._provider = provider if provider is not None else _otlp()
        self._logger = self._provider.get_logger("policyengine")
        self._lost = 0

    def write_many(self, items: Sequence[Item]) -> None:
        """Emit a batch. Raises `SinkError`."""
        for index, item in enumerate(items):
            record = item.record
            attributes = {PREFIX + k: v for k, v in record.items() if k not in _NOT_ATTRIBUTES and v is not None}
            if self._lost:
                attributes[PREFIX + "dropped"] = self._lost
            time = record.get("time")
            nanoseconds = int(datetime.fromisoformat(time).timestamp() * 1000) * 1_000_000 if time else None
            try:
                self._logger.emit(
                    self._record(
                        timestamp=nanoseconds,
                        severity_number=self._severity,
                        severity_text="INFO",
                        body="{" + item.body.decode() + "}",
                        attributes=attributes,
                        event_name=EVENT,
                    )
                )
            except Exception as error:  # whatever an exporter raises
                raise SinkError(f"otel: the record was not taken: {type(error).__name__}", written=index) from None
            self._lost = 0

    def lost(self, count: int) -> None:
        """So many records were lost before the next one."""
        self._lost += count

    def close(self) -> None:
        """Send what waits."""
        self._provider.force_flush()
        self._provider.shutdown()


def _otlp() -> Any:
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    except ImportError:
        raise MissingExtraError("opentelemetry-sdk", "otel", "sending records to OpenTelemetry") from None
    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    return provider
