"""What the adapter asks of a provider, and what a provider answers. One small interface for all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from policyengine.runtime.messages import Message
from policyengine.source.errors import PolicyEngineError

Finish: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]
FailureKind: TypeAlias = Literal[
    "timeout", "rate_limit", "overloaded", "connection", "incomplete", "context_overflow", "refused", "auth", "protocol"
]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it. `parameters` is a JSON Schema (object)."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. `facts` is the model catalogue's outcome for `model`.

    `max_output_tokens` is the cap that goes on the wire under the provider's own field name; None sends none (where
    the API allows that). `thinking` off is sent as the catalogue says. `cache_marks` asks for marks where the
    catalogue says the provider takes them.
    """

    model: str
    facts: Mapping[str, Any]
    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    max_output_tokens: int | None = None
    thinking: Literal["default", "off"] = "default"
    cache_marks: bool = True


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Visible text. An empty one is a sign of life: the first chunk came and shows nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Reasoning text (may be empty where the provider hides it)."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """A finished reasoning block to keep in the history, in the provider's own form."""

    raw: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The first sign of a tool call."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A tool call with its whole arguments, as the provider sent them (JSON text)."""

    index: int
    id: str
    name: str
    arguments: str
    provider_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Tokens as reported, in the provider's own sense (see `sessions.model.Usage`). The last one counts."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The provider's own end marker arrived: the only sign of success. Always the last event.

    `raw` is the provider's word for the reason. `over_cap` is true where the reported output is larger than the cap
    that was sent: the server ignored it. After `length` the last tool call may be cut: run none of them.
    """

    reason: Finish
    raw: str
    over_cap: bool = False


StreamEvent: TypeAlias = (
    TextDelta | ReasoningDelta | ThinkingBlock | CallStarted | CallFinished | UsageReport | Finished
)


class ProviderError(PolicyEngineError):
    """A call failed. The message never holds prompts or keys.

    `retry_after_s` is what the provider asked for; `usage` what it had reported until then.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        usage: UsageReport | None = None,
    ) -> None:
        self.kind = kind
        self.status = status
        self.retry_after_s = retry_after_s
        self.usage = usage
        super().__init__(message)


class Provider(Protocol):
    """A provider. `name` is its id in the model catalogue (openai, anthropic, gemini, qwen) or `scripted`."""

    name: str

    def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        """Stream one response. Raises `ProviderError`; a stream that ends without `Finished` is incomplete.

        Closing the iterator (aclose) closes the connection at once.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...
