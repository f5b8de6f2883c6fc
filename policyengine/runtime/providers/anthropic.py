"""Anthropic's Messages."""

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
from policyengine.runtime.providers.anthropic_body import anthropic_body
from policyengine.runtime.providers.failures import Told, plain_failure, told
from policyengine.runtime.providers.openai_chat import split_extra
from policyengine.runtime.providers.sdk import Sdk
from policyengine.runtime.providers.streaming import Options, Reading, SdkProvider, to_json
from policyengine.runtime.providers.tool_calls import CallIds, OpenCall

_FINISH: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_KNOWN = ("model", "max_tokens", "stream", "system", "messages", "tools", "tool_choice")


class Anthropic(SdkProvider):
    """The Messages API."""

    sdk: ClassVar[Sdk] = Sdk("anthropic", "anthropic", "anthropic")
    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"

    def __init__(self, options: Options | None = None, name: str = "anthropic") -> None:
        self.name = name
        super().__init__(options or Options())

    def make_client(self) -> Any:
        """A client of the SDK, with its retries off."""
        sdk = self.sdk.load()
        from policyengine.runtime.providers.wire_watch import http_client

        client = sdk.AsyncAnthropic(
            api_key=self.options.api_key,
            base_url=self.options.base_url,
            max_retries=0,
            timeout=self.options.timeout_s,
            http_client=http_client(self.options.timeout_s),
        )
        # This SDK would say so at the first request only.
        if not (client.api_key or client.auth_token or getattr(client, "credentials", None)):
            raise plain_failure(self.name, "auth", f"no key is set; set {self.key_variable}")
        return client

    async def close_client(self, client: Any) -> None:
        """Close its connections."""
        await client.close()

    def body(self, request: Request) -> dict[str, Any]:
        """The request as this API takes it."""
        return anthropic_body(request, self.options, self.name)

    async def open(self, client: Any, body: dict[str, Any]) -> AsyncIterator[Any]:
        """Send it."""
        stream: AsyncIterator[Any] = await client.messages.create(**split_extra(body, _KNOWN))
        return stream

    def reading(self, request: Request, body: dict[str, Any]) -> Reading:
        """A reading of the answer."""
        return AnthropicReading(request, body["max_tokens"])

    def explain(self, error: Exception) -> Told | None:
        """What the server said in an error of the SDK."""
        body = getattr(error, "body", None)
        status = getattr(error, "status_code", None)
        if body is None and status is None:
            return None
        return told(body, status, getattr(getattr(error, "response", None), "headers", None) or {})


class AnthropicReading(Reading):
    """One streamed message."""

    def __init__(self, request: Request, cap: int | None) -> None:
        super().__init__(request, cap)
        self._ids = CallIds(request.messages)
        self._calls: dict[int, OpenCall] = {}
        self._number = 0
        self._thinking: dict[int, dict[str, Any]] = {}
        self._raw = ""
        self._stopped = False

    def take(self, chunk: Any) -> Iterator[StreamEvent]:
        """The events of one chunk."""
        kind = getattr(chunk, "type", None)
        if kind == "message_start":
            # Its output count is a placeholder.
            yield from self._usage(getattr(chunk.message, "usage", None), final=False)
        elif kind == "content_block_start":
            yield from self._start(chunk.index, chunk.content_block)
        elif kind == "content_block_delta":
            yield from self._delta(chunk.index, chunk.delta)
        elif kind == "content_block_stop":
            yield from self._stop(chunk.index)
        elif kind == "message_delta":
            self._raw = getattr(chunk.delta, "stop_reason", None) or self._raw
            yield from self._usage(getattr(chunk, "usage", None), final=True)
        elif kind == "message_stop":
            self._stopped = True

    def stops(self) -> bool:
        """Whether `message_stop` arrived."""
        return self._stopped

    def whole(self, done: bool) -> bool:
        """Whether `message_stop` arrived."""
        return self._stopped

    def finish(self) -> Iterator[StreamEvent]:
        """The last events."""
        for index in sorted({*self._calls, *self._thinking}):
            yield from self._stop(index)
        yield self.finished(Finished(_FINISH.get(self._raw, "error"), self._raw))

    def _start(self, index: int, block: Any) -> Iterator[StreamEvent]:
        kind = getattr(block, "type", None)
        if kind == "tool_use":
            sent = getattr(block, "id", None)
            call = OpenCall(self._number, self._ids.unique(sent), block.name, sent)
            self._number += 1
            if isinstance(given := getattr(block, "input", None), dict) and given:
                call.pieces.append(to_json(given))
            self._calls[index] = call
            yield call.started()
        elif kind in ("thinking", "redacted_thinking"):
            self._thinking[index] = block.to_dict(mode="json")
            yield ReasoningDelta(self._thinking[index].get("thinking", ""))
        elif kind == "text" and block.text:
            yield TextDelta(block.text)

    def _delta(self, index: int, delta: Any) -> Iterator[StreamEvent]:
        kind = getattr(delta, "type", None)
        if kind == "text_delta":
            yield TextDelta(delta.text)
        elif kind == "input_json_delta":
            if index in self._calls:
                self._calls[index].pieces.append(delta.partial_json)
        elif kind == "thinking_delta":
            self._extend(index, "thinking", delta.thinking)
            yield ReasoningDelta(delta.thinking)
        elif kind == "signature_delta":
            self._extend(index, "signature", delta.signature)

    def _extend(self, index: int, field: str, piece: str) -> None:
        block = self._thinking.setdefault(index, {"type": "thinking", "thinking": ""})
        block[field] = block.get(field, "") + piece

    def _stop(self, index: int) -> Iterator[StreamEvent]:
        if (call := self._calls.pop(index, None)) is not None:
            yield call.finished()
        if (block := self._thinking.pop(index, None)) is not None:
            yield ThinkingBlock(block, block.get("thinking", ""))

    def _usage(self, usage: Any, *, final: bool) -> Iterator[StreamEvent]:
        details = getattr(usage, "output_tokens_details", None)
        report = self.usage.take(
            input=getattr(usage, "input_tokens", None),
            cache_read=getattr(usage, "cache_read_input_tokens", None),
            cache_write=getattr(usage, "cache_creation_input_tokens", None),
            output=getattr(usage, "output_tokens", None) if final else None,
            reasoning=getattr(details, "thinking_tokens", None) if final else None,
        )
        if report:
            yield report
