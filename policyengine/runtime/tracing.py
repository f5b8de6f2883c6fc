"""OpenTelemetry spans of turns, model calls and tools, under the current GenAI names. Off unless it is given.

No span holds a prompt, an argument or an output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from policyengine.source.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

_PROVIDERS = {"gemini": "gcp.gemini", "qwen": "qwen"}
"""Names that differ from ours; all others are the same."""


class Span(Protocol):
    """One span."""

    def set(self, attributes: Mapping[str, Any]) -> None:
        """Add attributes; those that are None are left out."""
        ...

    def end(self, error: str | None = None) -> None:
        """The span is over; `error` is the kind of what went wrong."""
        ...


class Tracing(Protocol):
    """Starts spans."""

    def start(self, name: str, attributes: Mapping[str, Any], parent: Span | None = None) -> Span:
        """A span below `parent`."""
        ...


class NoSpan:
    """A span that is not recorded."""

    def set(self, attributes: Mapping[str, Any]) -> None:
        """Nothing."""

    def end(self, error: str | None = None) -> None:
        """Nothing."""


class NoTracing:
    """No tracing at all."""

    def start(self, name: str, attributes: Mapping[str, Any], parent: Span | None = None) -> Span:
        """A span that is not recorded."""
        del name, attributes, parent
        return _NO_SPAN


_NO_SPAN = NoSpan()


class OtelTracing:
    """Spans of OpenTelemetry (extra `otel`). `tracer` is made by the global provider where none is given."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtraError("opentelemetry-api", "otel", "tracing") from None
        self._tracer = tracer or trace.get_tracer("policyengine")

    def start(self, name: str, attributes: Mapping[str, Any], parent: Span | None = None) -> Span:
        """A span below `parent`, or below the caller's current one."""
        from opentelemetry import trace

        context = trace.set_span_in_context(parent.span) if isinstance(parent, _Span) else None
        kind = trace.SpanKind.CLIENT if name.startswith("chat ") else trace.SpanKind.INTERNAL
        return _Span(self._tracer.start_span(name, context, kind=kind, attributes=_known(attributes)))


class _Span:
    def __init__(self, span: OtelSpan) -> None:
        self.span = span

    def set(self, attributes: Mapping[str, Any]) -> None:
        for name, value in _known(attributes).items():
            self.span.set_attribute(name, value)

    def end(self, error: str | None = None) -> None:
        from opentelemetry.trace import Status, StatusCode

        if error is not None:
            self.span.set_attribute("error.type", error)
            self.span.set_status(Status(StatusCode.ERROR))
        self.span.end()


def _known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


class SafeTracing:
    """Tracing that never raises; the first failure is said."""

    def __init__(self, tracing: Tracing, on_error: Callable[[str], None]) -> None:
        self._tracing = tracing
        self._on_error = on_error
        self._said = False

    def start(self, name: str, attributes: Mapping[str, Any], parent: Span | None = None) -> Span:
        """A span, or one that is not recorded where tracing fails."""
        try:
            inner = parent.inner if isinstance(parent, _SafeSpan) else None
            return _SafeSpan(self._tracing.start(name, attributes, inner), self)
        except Exception as error:
            self.failed(error)
            return _NO_SPAN

    def failed(self, error: Exception) -> None:
        """Say a failure, once."""
        if not self._said:
            self._said = True
            self._on_error(type(error).__name__)


class _SafeSpan:
    def __init__(self, inner: Span, tracing: SafeTracing) -> None:
        self.inner = inner
        self._tracing = tracing

    def set(self, attributes: Mapping[str, Any]) -> None:
        try:
            self.inner.set(attributes)
        except Exception as error:
            self._tracing.failed(error)

    def end(self, error: str | None = None) -> None:
        try:
            self.inner.end(error)
        except Exception as failure:
            self._tracing.failed(failure)


def provider_name(provider: str) -> str:
    """A provider under its name in the conventions."""
    return _PROVIDERS.get(provider, provider)
