"""OpenAI's Chat Completions, any compatible server, and DashScope (Qwen)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from policyengine.runtime.provider import Finish, Finished, ReasoningDelta, Request, StreamEvent, TextDelta
from policyengine.runtime.providers.failures import Told, plain_failure, told
from policyengine.runtime.providers.openai_chat_body import chat_body, usage_of
from policyengine.runtime.providers.sdk import Sdk
from policyengine.runtime.providers.streaming import Options, Reading, SdkProvider
from policyengine.runtime.providers.tool_calls import CallIds, OpenCall

CAP_FIELDS = ("max_tokens", "max_completion_tokens")

_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


@dataclass(frozen=True, slots=True)
class ChatOptions(Options):
    """Options of a server that speaks this dialect.

    `cap_field` overrides the catalogue: some compatible servers know only `max_tokens`. `done_marker` false is for
    servers that end their streams without `[DONE]`; `finish_reason` alone then counts as the end. `plain_text` is for
    servers that take nothing but a string as the content of a message: no null beside tool calls, no list of texts.
    `key_variable` is the environment variable of the key where it is not the SDK's own.
    """

    cap_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    done_marker: bool = True
    plain_text: bool = False
    key_variable: str | None = None


class OpenAIChat(SdkProvider):
    """Chat Completions of `name`: `openai`, or `qwen` with DashScope's base URL."""

    sdk: ClassVar[Sdk] = Sdk("openai", "openai", "openai")
    key_variable: ClassVar[str] = "OPENAI_API_KEY"

    def __init__(self, options: ChatOptions | None = None, name: str = "openai") -> None:
        self.name = name
        self.chat = options or ChatOptions()
        super().__init__(self.chat)

    def make_client(self) -> Any:
        """A client of the SDK, with its retries off."""
        sdk = self.sdk.load()
        return openai_client(sdk, self.options, self.chat.key_variable, self.name)

    async def close_client(self, client: Any) -> None:
        """Close its connections."""
        await client.close()

    def cap_field(self, request: Request) -> str:
        """The name of the output cap: the option, else the catalogue, else by server."""
        if self.chat.cap_field:
            return self.chat.cap_field
        listed = request.facts.get("output_cap")
        if listed in CAP_FIELDS:
            return str(listed)
        # Unknown here: OpenAI itself refuses the old name at newer models, others may not know the new one.
        elsewhere = self.options.base_url or os.environ.get("OPENAI_BASE_URL")
        return "max_tokens" if elsewhere and listed is None else "max_completion_tokens"

    def body(self, request: Request) -> dict[str, Any]:
        """The request as this API takes it."""
        return chat_body(request, self.options, self.cap_field(request), plain_text=self.chat.plain_text)

    async def open(self, client: Any, body: dict[str, Any]) -> AsyncIterator[Any]:
        """Send it."""
        stream: AsyncIterator[Any] = await client.chat.completions.create(**split_extra(body, _KNOWN))
        return stream

    def reading(self, request: Request, body: dict[str, Any]) -> Reading:
        """A reading of the answer."""
        return ChatReading(request, request.max_output_tokens, self.chat.done_marker)

    def explain(self, error: Exception) -> Told | None:
        """What the server said in an error of the SDK."""
        return explain_openai(error)


class ChatReading(Reading):
    """One streamed completion. Only the first choice is read; no more are asked for."""

    def __init__(self, request: Request, cap: int | None, needs_done: bool) -> None:
        super().__init__(request, cap)
        self._needs_done = needs_done
        self._raw: str | None = None
        self._refused = False
        self._ids = CallIds(request.messages)
        self._calls: list[OpenCall] = []
        self._at_index: dict[int, OpenCall] = {}

    def take(self, chunk: Any) -> Iterator[StreamEvent]:
        """The events of one chunk."""
        for choice in getattr(chunk, "choices", None) or ():
            if getattr(choice, "index", 0):
                continue
            if (delta := getattr(choice, "delta", None)) is not None:
                yield from self._delta(delta)
            raw = getattr(choice, "finish_reason", None)
            if isinstance(raw, str) and raw not in ("", "null"):
                self._raw = raw
        if (usage := getattr(chunk, "usage", None)) is not None and (report := self.usage.take(**usage_of(usage))):
            yield report

    def whole(self, done: bool) -> bool:
        """Whether `finish_reason` and `[DONE]` arrived."""
        return self._raw is not None and (done or not self._needs_done)

    def finish(self) -> Iterator[StreamEvent]:
        """The last events."""
        for call in self._calls:
            yield call.finished()
        raw = self._raw or ""
        reason = _FINISH.get(raw, "error")
        if self._refused and reason == "stop":
            reason = "content_filter"
        elif self._calls and reason == "stop":
            reason = "tool_calls"
        elif reason == "tool_calls" and not self._calls:
            reason = "error"
        yield self.finished(Finished(reason, raw))

    def _delta(self, delta: Any) -> Iterator[StreamEvent]:
        # Fields that the SDK does not know; asking its object for one that is missing is slow.
        extra = getattr(delta, "model_extra", None) or {}
        reasoning = extra.get("reasoning_content") or extra.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            yield ReasoningDelta(reasoning)
        for field in ("content", "refusal"):
            text = getattr(delta, field, None)
            if isinstance(text, str) and text:
                self._refused = self._refused or field == "refusal"
                yield TextDelta(text)
        for piece in getattr(delta, "tool_calls", None) or ():
            yield from self._call(piece)

    def _call(self, piece: Any) -> Iterator[StreamEvent]:
        index = getattr(piece, "index", None)
        index = index if isinstance(index, int) else max(self._at_index, default=0)
        sent = getattr(piece, "id", None) or None
        function = getattr(piece, "function", None)
        name = getattr(function, "name", None) or ""
        call = self._at_index.get(index)
        # Some servers send several calls under one index and tell them apart by id only.
        if call is None or (sent and call.sent_id and sent != call.sent_id):
            call = OpenCall(len(self._calls), self._ids.unique(sent), name, sent)
            self._calls.append(call)
            self._at_index[index] = call
            yield call.started()
        elif name and not call.pieces and name != call.name:
            call.name += name
        arguments = getattr(function, "arguments", None)
        if isinstance(arguments, str) and arguments:
            call.pieces.append(arguments)


# What the SDK's method takes by name; anything else goes into the body beside it.
_KNOWN = ("model", "messages", "stream", "stream_options", "tools", "tool_choice", *CAP_FIELDS)


def split_extra(body: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """The body as arguments of an SDK's method: fields that it does not know by name as `extra_body`."""
    arguments = {name: value for name, value in body.items() if name in known}
    extra = {name: value for name, value in body.items() if name not in known}
    return {**arguments, "extra_body": extra} if extra else arguments


def openai_client(sdk: Any, options: Options, key_variable: str | None, name: str) -> Any:
    """A client of the openai SDK. Raises ProviderError where `key_variable` is wanted and not set."""
    from policyengine.runtime.providers.wire_watch import http_client

    key = options.api_key
    if key is None and key_variable and not (key := os.environ.get(key_variable)):
        raise plain_failure(name, "auth", f"no key is set; set {key_variable}")
    return sdk.AsyncOpenAI(
        api_key=key,
        base_url=options.base_url,
        max_retries=0,
        timeout=options.timeout_s,
        http_client=http_client(options.timeout_s),
    )


def explain_openai(error: Exception) -> Told | None:
    """What the server said in an error of the openai SDK; None where it said nothing."""
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    if body is None and status is None:
        return None
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return told(body, status, headers)
