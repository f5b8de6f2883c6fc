"""OpenAI's Responses: the only API of some models, and the one that takes reasoning back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

from policyengine.runtime.provider import (
    Finish,
    Finished,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
    ThinkingBlock,
)
from policyengine.runtime.providers.failures import Told, failure, told
from policyengine.runtime.providers.openai_chat import explain_openai, openai_client, split_extra
from policyengine.runtime.providers.openai_responses_body import responses_body
from policyengine.runtime.providers.sdk import Sdk
from policyengine.runtime.providers.streaming import Options, Reading, SdkProvider
from policyengine.runtime.providers.tool_calls import CallIds, OpenCall

_KNOWN = (
    "model",
    "input",
    "stream",
    "store",
    "instructions",
    "max_output_tokens",
    "tools",
    "tool_choice",
    "include",
    "reasoning",
)
_FINISH: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete")


class OpenAIResponses(SdkProvider):
    """The Responses API."""

    sdk: ClassVar[Sdk] = Sdk("openai", "openai", "openai")
    key_variable: ClassVar[str] = "OPENAI_API_KEY"

    def __init__(self, options: Options | None = None, name: str = "openai") -> None:
        self.name = name
        super().__init__(options or Options())

    def make_client(self) -> Any:
        """A client of the SDK, with its retries off."""
        return openai_client(self.sdk.load(), self.options, None, self.name)

    async def close_client(self, client: Any) -> None:
        """Close its connections."""
        await client.close()

    def body(self, request: Request) -> dict[str, Any]:
        """The request as this API takes it."""
        return responses_body(request, self.options, self.name)

    async def open(self, client: Any, body: dict[str, Any]) -> AsyncIterator[Any]:
        """Send it."""
        stream: AsyncIterator[Any] = await client.responses.create(**split_extra(body, _KNOWN))
        return stream

    def reading(self, request: Request, body: dict[str, Any]) -> Reading:
        """A reading of the answer."""
        return ResponsesReading(request, request.max_output_tokens, self.name)

    def explain(self, error: Exception) -> Told | None:
        """What the server said in an error of the SDK."""
        return explain_openai(error)


class ResponsesReading(Reading):
    """One streamed response."""

    def __init__(self, request: Request, cap: int | None, name: str) -> None:
        super().__init__(request, cap)
        self._name = name
        self._ids = CallIds(request.messages)
        self._calls: dict[int, OpenCall] = {}
        self._number = 0
        self._refused = False
        self._end: Any = None

    def take(self, chunk: Any) -> Iterator[StreamEvent]:
        """The events of one chunk."""
        kind = getattr(chunk, "type", None)
        if kind in _TEXT:
            self._refused = self._refused or kind == "response.refusal.delta"
            if chunk.delta:
                yield TextDelta(chunk.delta)
        elif kind in _REASONING:
            yield ReasoningDelta(chunk.delta)
        elif kind == "response.output_item.added":
            yield from self._added(chunk.output_index, chunk.item)
        elif kind == "response.function_call_arguments.delta":
            if chunk.output_index in self._calls:
                self._calls[chunk.output_index].pieces.append(chunk.delta)
        elif kind == "response.output_item.done":
            yield from self._done(chunk.output_index, chunk.item)
        elif kind in _ENDS:
            self._end = chunk.response
            yield from self._usage(getattr(chunk.response, "usage", None))
        elif kind in ("response.failed", "error"):
            yield from self._failed(kind, chunk)

    def stops(self) -> bool:
        """Whether the end event arrived."""
        return self._end is not None

    def whole(self, done: bool) -> bool:
        """Whether the end event arrived."""
        return self._end is not None

    def finish(self) -> Iterator[StreamEvent]:
        """The last events."""
        for index in sorted(self._calls):
            yield self._calls[index].finished()
        yield self.finished(Finished(*self._reason()))

    def _reason(self) -> tuple[Finish, str]:
        raw = str(getattr(self._end, "status", None) or "")
        if raw == "incomplete":
            details = getattr(self._end, "incomplete_details", None)
            why = str(getattr(details, "reason", None) or raw)
            return _FINISH.get(why, "error"), why
        if raw != "completed":
            return "error", raw
        output = self.output_tokens()
        if self.cap is not None and output is not None and output >= self.cap:
            # At least one server calls an answer that its cap cut off completed.
            return "length", raw
        if self._number:
            return "tool_calls", raw
        return ("content_filter" if self._refused else "stop"), raw

    def _added(self, index: int, item: Any) -> Iterator[StreamEvent]:
        if getattr(item, "type", None) == "function_call":
            sent = getattr(item, "call_id", None) or getattr(item, "id", None)
            call = OpenCall(self._number, self._ids.unique(sent), item.name, sent)
            self._number += 1
            self._calls[index] = call
            yield call.started()
        elif getattr(item, "type", None) == "reasoning":
            yield ReasoningDelta("")

    def _done(self, index: int, item: Any) -> Iterator[StreamEvent]:
        kind = getattr(item, "type", None)
        if kind == "function_call":
            if index not in self._calls:
                yield from self._added(index, item)
            call = self._calls.pop(index)
            if isinstance(item.arguments, str) and item.arguments:
                call.pieces = [item.arguments]
            yield call.finished()
        elif kind == "reasoning":
            raw = item.to_dict(mode="json")
            summary = "".join(part.get("text", "") for part in raw.get("summary") or ())
            yield ThinkingBlock(raw, summary)

    def _usage(self, usage: Any) -> Iterator[StreamEvent]:
        given = getattr(usage, "input_tokens_details", None)
        report = self.usage.take(
            input=getattr(usage, "input_tokens", None),
            cache_read=getattr(given, "cached_tokens", None),
            cache_write=getattr(given, "cache_write_tokens", None),
            output=getattr(usage, "output_tokens", None),
            reasoning=getattr(getattr(usage, "output_tokens_details", None), "reasoning_tokens", None),
        )
        if report:
            yield report

    def _failed(self, kind: str, chunk: Any) -> Iterator[StreamEvent]:
        if kind == "response.failed":
            yield from self._usage(getattr(chunk.response, "usage", None))
            error = getattr(chunk.response, "error", None)
        else:
            error = chunk
        said = {"code": getattr(error, "code", None), "message": getattr(error, "message", None)}
        raise failure(self._name, told(said, 200), self.usage.report)
