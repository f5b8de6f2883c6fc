"""How a summary is made: the interface, and the plain way with one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from policyengine.runtime.messages import Message, Text
from policyengine.sessions.content import size

StopReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "rejected", "error"]


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """What a summarising call answered. Tokens are as reported, None where they were not."""

    stop_reason: StopReason
    text: str = field(default="", repr=False)
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryJob:
    """What is to be summarised, and the call to do it with.

    `call` sends messages to the model that summarises, with thinking off and `max_output_tokens` as the cap on the
    wire; it raises nothing but a cancellation. `instruction` is what the policy asks for.
    """

    messages: Sequence[Message] = field(repr=False)
    instruction: str = field(repr=False)
    max_output_tokens: int | None
    call: Callable[[Sequence[Message]], Awaitable[SummaryAnswer]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the facts that CompactionResult judges it by."""

    stop_reason: StopReason
    text: str = field(default="", repr=False)
    output_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def bytes(self) -> int:
        """UTF-8 size of its text."""
        return size(self.text.strip())


class Summarizer(Protocol):
    """Makes summaries."""

    async def summarize(self, job: SummaryJob) -> Summary:
        """Summarise. What goes wrong is in `stop_reason`; an exception counts as an error."""
        ...


class PlainSummarizer:
    """One call: the span as it is, then the instruction."""

    async def summarize(self, job: SummaryJob) -> Summary:
        """Summarise with one call."""
        asked = Message("user", (Text(job.instruction),))
        answer = await job.call([*job.messages, asked])
        return Summary(answer.stop_reason, answer.text, answer.output_tokens, answer.reasoning_tokens)
