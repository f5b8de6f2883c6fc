"""One model call: its stream read with its time limits, guarded, and closed whatever happens."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from policyengine.runtime.messages import Block, Call, Text, Thinking
from policyengine.runtime.patience import Patience
from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finish,
    Finished,
    Provider,
    ProviderError,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
    ThinkingBlock,
    UsageReport,
)
from policyengine.sessions.content import size
from policyengine.source.errors import MissingExtraError, PolicyEngineError

CallKind: TypeAlias = Literal["fast", "primary", "summary", "helper"]
TOOL_CALL_SEEN = "tool_call_seen"
LOOP = "loop"
_CLOSE_S = 2.0


@dataclass(frozen=True, slots=True)
class Failure:
    """How a call failed. `error` is what is raised where nothing else is done."""

    kind: str
    error: PolicyEngineError
    status: int | None = None
    retry_after_ms: int | None = None


@dataclass(slots=True)
class Listener:
    """Who hears of a stream while it runs. Each returns False where the stream has to stop at once."""

    text: Callable[[str], bool] = lambda text: True
    reasoning: Callable[[str], bool] = lambda text: True
    call: Callable[[Call], bool] = lambda call: True
    first: Callable[[], None] = lambda: None


@dataclass(slots=True)
class Attempt:
    """One call and what came of it.

    Times in ms from the request on: the first event at all, the first sign of reasoning, the first visible text, and
    `ttft_ms`, the first of the two latter or of a call.
    """

    number: int
    model: str
    call: CallKind
    provider: str
    blocks: list[Block] = field(default_factory=list)
    usage: UsageReport | None = None
    finish: Finish | None = None
    raw_finish: str = ""
    failure: Failure | None = None
    stopped: bool = False
    first_chunk_ms: int | None = None
    first_reasoning_ms: int | None = None
    first_answer_ms: int | None = None
    ttft_ms: int | None = None
    rt_ms: int = 0
    text_bytes: int = 0
    other_bytes: int = 0
    _parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls."""
        return tuple(block for block in self.blocks if isinstance(block, Call))

    @property
    def good(self) -> bool:
        """Whether it ended with the provider's own end marker and nothing stopped it."""
        return self.finish is not None and self.failure is None and not self.stopped

    async def run(
        self,
        provider: Provider,
        request: Request,
        *,
        first_token_ms: int,
        stall_ms: int,
        guard: bool = False,
        listener: Listener | None = None,
        flow: Callable[[], Any] | None = None,
    ) -> None:
        """Read the stream to its end. With `guard`, the first sign of a tool call closes it.

        Raises nothing but a cancellation; the stream is closed then too.
        """
        begun = time.monotonic()
        listener = listener or Listener()
        stream: AsyncIterator[StreamEvent] | None = None
        try:
            stream = provider.stream(request)
            async with Patience() as patience:
                while True:
                    patience.allow((first_token_ms if self.ttft_ms is None else stall_ms) / 1000)
                    event = await anext(stream)
                    patience.rest()
                    if not self._take(event, begun, guard, listener):
                        break
                    if flow is not None:
                        await flow()
        except StopAsyncIteration:
            pass
        except TimeoutError:
            self._fail("timeout", ProviderError("timeout", f"{self.model}: the stream stood still for too long"))
        except ProviderError as error:
            self.usage = error.usage or self.usage
            after = None if error.retry_after_s is None else max(0, round(error.retry_after_s * 1000))
            self._fail(error.kind, error, error.status, after)
        except MissingExtraError as error:
            # No request of this provider gets through; what to install is said in its own words.
            self._fail("refused", error)
        except Exception as error:
            # An SDK's own exception may hold anything; its kind is all that is said of it.
            kind = type(error).__name__
            self._fail("protocol", ProviderError("protocol", f"{self.model}: the answer could not be read ({kind})"))
        finally:
            self.rt_ms = _since(begun)
            self._settle()
            await _close(stream)
        if self.finish is None and self.failure is None and not self.stopped:
            self._fail(
                "incomplete", ProviderError("incomplete", f"{self.model}: the stream ended before its end marker")
            )
        elif self.finish == "error" and self.failure is None:
            self._fail(
                "protocol", ProviderError("protocol", f"{self.model}: the provider ended the answer with an error")
            )

    def _fail(self, kind: str, error: PolicyEngineError, status: int | None = None, after: int | None = None) -> None:
        """A failure after the end marker changes nothing: the answer is whole."""
        if self.finish is None or self.finish == "error":
            self.failure = Failure(kind, error, status, after)

    def _take(self, event: StreamEvent, begun: float, guard: bool, listener: Listener) -> bool:
        if self.first_chunk_ms is None:
            self.first_chunk_ms = _since(begun)
        if isinstance(event, TextDelta):
            if not event.text:
                return True
            self._first(begun, listener)
            if self.first_answer_ms is None:
                self.first_answer_ms = _since(begun)
            self.text_bytes += size(event.text)
            self._parts.append(event.text)
            return listener.text(event.text) or self._stop()
        if isinstance(event, ReasoningDelta):
            # An empty one says that hidden reasoning began: the model is at work.
            self._first(begun, listener)
            if self.first_reasoning_ms is None:
                self.first_reasoning_ms = _since(begun)
            if not event.text:
                return True
            self.other_bytes += size(event.text)
            return listener.reasoning(event.text) or self._stop()
        if isinstance(event, UsageReport):
            self.usage = event
            return True
        if isinstance(event, Finished):
            self.finish, self.raw_finish = event.reason, event.raw
            return True
        self._first(begun, listener)
        self._settle()
        if isinstance(event, ThinkingBlock):
            self.blocks.append(Thinking(self.model, self.provider, event.raw, event.text))
            return True
        if guard:
            self.other_bytes += size(event.name) + 1
            error = ProviderError("protocol", f"{self.model}: a tool call where none was expected")
            self.failure = Failure(TOOL_CALL_SEEN, error)
            return False
        if isinstance(event, CallFinished):
            call = _call(event)
            self.other_bytes += size(event.name) + size(event.arguments)
            self.blocks.append(call)
            return listener.call(call) or self._stop()
        assert isinstance(event, CallStarted)
        return True

    def _settle(self) -> None:
        """Text that has come is one block: what follows is another."""
        if self._parts:
            self.blocks.append(Text("".join(self._parts)))
            self._parts.clear()

    def _first(self, begun: float, listener: Listener) -> None:
        if self.ttft_ms is None:
            self.ttft_ms = _since(begun)
            listener.first()

    def _stop(self) -> bool:
        self.stopped = True
        return False


def _call(event: CallFinished) -> Call:
    """The call; arguments that are no JSON object are kept as they came."""
    with suppress(ValueError, RecursionError):
        arguments = json.loads(event.arguments or "{}")
        if isinstance(arguments, dict):
            return Call(event.id, event.name, arguments, None, event.provider_data)
    return Call(event.id, event.name, {}, event.arguments, event.provider_data)


async def _close(stream: AsyncIterator[StreamEvent] | None) -> None:
    """Close a stream, which closes its connection. One that does not close is left to the garbage collector."""
    close = getattr(stream, "aclose", None)
    if close is None:
        return
    with suppress(Exception):
        async with asyncio.timeout(_CLOSE_S):
            await close()


def _since(begun: float) -> int:
    return max(0, round((time.monotonic() - begun) * 1000))
