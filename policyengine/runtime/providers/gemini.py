"""Gemini's generateContent (v1beta), on google-genai."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
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
from policyengine.runtime.providers.failures import Told, told
from policyengine.runtime.providers.gemini_body import MODEL, SIGNATURE, gemini_body
from policyengine.runtime.providers.sdk import Sdk
from policyengine.runtime.providers.streaming import Options, Reading, SdkProvider, to_json
from policyengine.runtime.providers.tool_calls import CallIds, OpenCall

API_VERSION = "v1beta"
"""The version that takes thinking levels, signatures and JSON Schemas of parameters."""

_FINISH: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "LANGUAGE", "JAILBREAK"),
        "content_filter",
    ),
}


@dataclass(frozen=True, slots=True)
class GeminiOptions(Options):
    """Options of Gemini.

    `unsigned_call_signature` stands in for the signature of calls that another model
    made; newer models refuse a history in which it is missing, and Google documents a value that they let pass.
    """

    unsigned_call_signature: str | None = None


class Gemini(SdkProvider):
    """The Gemini API."""

    sdk: ClassVar[Sdk] = Sdk("google.genai", "google-genai", "gemini")
    key_variable: ClassVar[str] = "GEMINI_API_KEY"

    def __init__(self, options: GeminiOptions | None = None, name: str = "gemini") -> None:
        self.name = name
        self.gemini = options or GeminiOptions()
        super().__init__(self.gemini)

    def make_client(self) -> Any:
        """A client of the SDK, with its retries off."""
        sdk = self.sdk.load()
        import httpx2

        from policyengine.runtime.providers.wire_watch import http_client, ssl_context

        http = http_client(self.options.timeout_s)
        options: dict[str, Any] = {
            "httpx_async_client": http,
            # Never used; without it the SDK makes one that reads all certificates again.
            "httpx_client": httpx2.Client(verify=ssl_context()),
            "api_version": API_VERSION,
            "retry_options": sdk.types.HttpRetryOptions(attempts=1),
        }
        if self.options.base_url:
            options["base_url"] = self.options.base_url
        client = sdk.Client(api_key=self.options.api_key, http_options=sdk.types.HttpOptions(**options))
        return _Client(client, http)

    async def close_client(self, client: Any) -> None:
        """Close its connections."""
        await client.http.aclose()
        client.sdk.close()

    def body(self, request: Request) -> dict[str, Any]:
        """The request as this API takes it."""
        return gemini_body(request, self.options, self.name, self.gemini.unsigned_call_signature)

    async def open(self, client: Any, body: dict[str, Any]) -> AsyncIterator[Any]:
        """Send it."""
        chunks = await client.sdk.aio.models.generate_content_stream(**body)
        # The request goes out with the first chunk only.
        first = await anext(chunks, None)
        return _Resumed(first, chunks)

    def reading(self, request: Request, body: dict[str, Any]) -> Reading:
        """A reading of the answer."""
        return GeminiReading(request, body["config"].get("maxOutputTokens"))

    def explain(self, error: Exception) -> Told | None:
        """What the server said in an error of the SDK."""
        details = getattr(error, "details", None)
        status = getattr(error, "code", None)
        if not isinstance(details, dict | list) and not isinstance(status, int):
            return None
        response = getattr(error, "response", None)
        return told(details, status if isinstance(status, int) else None, getattr(response, "headers", None) or {})


@dataclass(frozen=True, slots=True, weakref_slot=True)
class _Client:
    """The SDK's client, and the HTTP client in it, which it leaves to its maker to close."""

    sdk: Any
    http: Any


class _Resumed:
    """Chunks of which the first was already taken."""

    def __init__(self, first: Any, rest: Any) -> None:
        self._first = first
        self._rest = rest

    def __aiter__(self) -> _Resumed:
        return self

    async def __anext__(self) -> Any:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return await anext(self._rest)

    async def aclose(self) -> None:
        await self._rest.aclose()


class GeminiReading(Reading):
    """One streamed response. Only the first candidate is read; no more are asked for."""

    def __init__(self, request: Request, cap: int | None) -> None:
        super().__init__(request, cap)
        self._ids = CallIds(request.messages)
        self._number = 0
        self._raw: str | None = None
        self._blocked = False

    def take(self, chunk: Any) -> Iterator[StreamEvent]:
        """The events of one chunk."""
        for candidate in chunk.candidates or ():
            if candidate.index:
                continue
            for part in (candidate.content.parts if candidate.content else None) or ():
                yield from self._part(part)
            if candidate.finish_reason is not None:
                self._raw = _word(candidate.finish_reason)
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self._raw, self._blocked = _word(feedback.block_reason), True
        if chunk.usage_metadata is not None:
            yield from self._usage(chunk.usage_metadata)

    def whole(self, done: bool) -> bool:
        """Whether `finishReason` arrived."""
        return self._raw is not None

    def finish(self) -> Iterator[StreamEvent]:
        """The last events."""
        raw = self._raw or ""
        reason: Finish = "content_filter" if self._blocked else _FINISH.get(raw, "error")
        if reason == "stop" and self._number:
            reason = "tool_calls"
        yield self.finished(Finished(reason, raw))

    def output_tokens(self) -> int | None:
        """What counts against the cap: thoughts too."""
        report = self.usage.report
        if report is None or report.output is None:
            return None
        return report.output + (report.reasoning or 0)

    def _part(self, part: Any) -> Iterator[StreamEvent]:
        signature = b64encode(part.thought_signature).decode("ascii") if part.thought_signature else None
        if part.function_call is not None:
            yield from self._call(part.function_call, signature)
            return
        text = part.text or ""
        if text or part.thought:
            yield ReasoningDelta(text) if part.thought else TextDelta(text)
        if signature:
            # Kept apart from the text, which the history holds as text: an empty part carries it back.
            raw: dict[str, Any] = {"text": text if part.thought else "", SIGNATURE: signature}
            if part.thought:
                raw["thought"] = True
            yield ThinkingBlock(raw, text if part.thought else "")

    def _call(self, sent: Any, signature: str | None) -> Iterator[StreamEvent]:
        call = OpenCall(self._number, self._ids.unique(sent.id), sent.name or "", sent.id)
        self._number += 1
        call.pieces.append(to_json(sent.args or {}))
        yield call.started()
        yield call.finished({SIGNATURE: signature, MODEL: self.request.model} if signature else None)

    def _usage(self, usage: Any) -> Iterator[StreamEvent]:
        output, total = usage.candidates_token_count, usage.total_token_count
        prompt = usage.prompt_token_count
        beside = (usage.thoughts_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
        if output is None and total is not None and prompt is not None and total >= prompt + beside:
            # A count of 0 is left out on this wire; the total tells it from one that is not known.
            output = total - prompt - beside
        report = self.usage.take(
            input=prompt,
            cache_read=usage.cached_content_token_count,
            output=output,
            reasoning=usage.thoughts_token_count,
        )
        if report:
            yield report


def _word(reason: Any) -> str:
    return str(getattr(reason, "value", reason))
