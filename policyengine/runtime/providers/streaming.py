"""What every provider on an SDK does around one stream: send, read, close at once, tell failures apart."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from policyengine.runtime.provider import Finished, ProviderError, Request, StreamEvent, TextDelta
from policyengine.runtime.providers.alternation import Gap
from policyengine.runtime.providers.failures import Told, body_error, failure, plain_failure, told
from policyengine.runtime.providers.request_facts import tokens_over
from policyengine.runtime.providers.sdk import Sdk
from policyengine.runtime.providers.usage import UsageSoFar

DRAIN_S = 0.1
"""How long the rest of a body may take once the end marker came; it lets the connection be used again."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a provider talks to its server.

    `api_key` None takes the SDK's environment variable; `base_url` None takes the provider's own server.
    `timeout_s` bounds connecting and every wait for bytes; None leaves all waiting to the adapter's policy.
    `gap` is what the history-repair policy chose for this provider, `filler` the text of a message nobody wrote:
    APIs that want alternation refuse an empty one.
    """

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    timeout_s: float | None = None
    gap: Gap = "tolerate"
    filler: str = "..."


class Reading(ABC):
    """One response being read. `take` gives the events of a chunk of the SDK; `finish` the last ones."""

    def __init__(self, request: Request, cap: int | None) -> None:
        self.request = request
        self.cap = cap
        self.usage = UsageSoFar()
        self.chunks = 0

    @abstractmethod
    def take(self, chunk: Any) -> Iterator[StreamEvent]:
        """The events of one chunk."""

    @abstractmethod
    def whole(self, done: bool) -> bool:
        """Whether the provider's end marker arrived. `done` says so of the OpenAI dialect's `[DONE]`."""

    @abstractmethod
    def finish(self) -> Iterator[StreamEvent]:
        """The events at the end of a whole response."""

    def stops(self) -> bool:
        """Whether nothing that counts can follow."""
        return False

    def finished(self, finished: Finished) -> Finished:
        """The end event, with the answer checked against the cap that was sent."""
        report = self.usage.report
        over = tokens_over(self.output_tokens(), self.cap) if report else False
        return Finished(finished.reason, finished.raw, over_cap=over)

    def output_tokens(self) -> int | None:
        """What counts against the cap."""
        return self.usage.report.output if self.usage.report else None


class SdkProvider(ABC):
    """A provider on an official SDK. One client for each event loop: connections belong to a loop."""

    name: str
    sdk: ClassVar[Sdk]
    """The SDK that it needs. Raises `MissingExtraError` when it is made where that is not installed."""
    key_variable: ClassVar[str]
    """The environment variable that this provider's SDK takes its key from."""

    def __init__(self, options: Options) -> None:
        self.sdk.check()
        self.options = options
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._making: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    @abstractmethod
    def make_client(self) -> Any:
        """A new client of the SDK, with retries off. Raises the SDK's error where there is no key."""

    @abstractmethod
    async def close_client(self, client: Any) -> None:
        """Close a client."""

    @abstractmethod
    def body(self, request: Request) -> dict[str, Any]:
        """The request in the provider's form."""

    @abstractmethod
    async def open(self, client: Any, body: dict[str, Any]) -> AsyncIterator[Any]:
        """Send the request; the chunks of the answer. Raises the SDK's errors."""

    @abstractmethod
    def reading(self, request: Request, body: dict[str, Any]) -> Reading:
        """A reading of the answer."""

    @abstractmethod
    def explain(self, error: Exception) -> Told | None:
        """What the provider said, where `error` is an error of the SDK that carries it."""

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream one response. Raises ProviderError."""
        client = await self._client()
        from policyengine.runtime.providers.wire_watch import Watch, watched

        body = self.body(request)
        reading = self.reading(request, body)
        watch = Watch()
        chunks: AsyncIterator[Any] | None = None
        failed: Exception | None = None
        try:
            with watched(watch):
                chunks = await self.open(client, body)
            async for chunk in chunks:
                reading.chunks += 1
                silent = reading.chunks == 1
                for event in reading.take(chunk):
                    silent = False
                    yield event
                if silent:
                    yield TextDelta("")
                if reading.stops():
                    await _drain(chunks)
                    break
        except Exception as error:
            failed = error
        finally:
            # The connection first: the SDK's generators are closed after it and must not keep it open.
            await watch.close()
            if chunks is not None and hasattr(chunks, "aclose"):
                with suppress(Exception):
                    await chunks.aclose()
        if not reading.whole(watch.done or not watch.readable):
            # Raised here and not above, so that no SDK error, which holds request and key, hangs on it.
            raise self._failure(failed, watch, reading)
        for event in reading.finish():
            yield event

    async def close(self) -> None:
        """Release the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await self.close_client(client)

    async def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            async with self._making.setdefault(loop, asyncio.Lock()):
                if loop not in self._clients:
                    # Loading an SDK takes a second or more; other sessions go on meanwhile.
                    self._clients[loop] = await asyncio.to_thread(self._make_client)
        return self._clients[loop]

    def _make_client(self) -> Any:
        missing_key = False
        try:
            return self.make_client()
        except ProviderError:
            raise
        except Exception as error:
            # The SDKs say that no key is set with errors of their own, one of them with a plain ValueError.
            missing_key = type(error) is ValueError or type(error).__module__.startswith(("openai", "anthropic"))
            if not missing_key:
                raise
        raise plain_failure(self.name, "auth", f"no key is set; set {self.key_variable}")

    def _failure(self, error: Exception | None, watch: Any, reading: Reading) -> ProviderError:
        import httpx2

        usage = reading.usage.report
        if isinstance(error, ProviderError):
            return plain_failure(self.name, error.kind, usage=usage) if error.usage is None and usage else error
        said = self.explain(error) if error is not None else None
        if said is None and not reading.chunks and (body := body_error(watch.head)) is not None:
            said = told(body, watch.status, watch.headers)
        if said is not None:
            return failure(self.name, said, usage)
        causes = list(_causes(error))
        if any(isinstance(cause, httpx2.TimeoutException) for cause in causes):
            return plain_failure(self.name, "timeout", usage=usage)
        if watch.not_utf8:
            return plain_failure(self.name, "protocol", "half a character, or no UTF-8", usage=usage)
        if watch.started and watch.content_type not in ("text/event-stream", "") and not reading.chunks:
            return plain_failure(self.name, "protocol", "no event stream", status=watch.status, usage=usage)
        if any(isinstance(cause, httpx2.TransportError) for cause in causes):
            return plain_failure(self.name, "incomplete" if watch.started else "connection", usage=usage)
        if error is None or watch.ended:
            # What cannot be read after the body's end was cut off.
            return plain_failure(self.name, "incomplete", usage=usage)
        return plain_failure(self.name, "protocol", type(error).__name__, usage=usage)


async def _drain(chunks: AsyncIterator[Any]) -> None:
    with suppress(Exception):
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def to_json(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON text."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
