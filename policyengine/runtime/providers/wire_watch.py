"""Watching the bytes of one response below an SDK.

The SDKs hide what decides whether an answer is whole: whether `[DONE]` came, whether the body ended or the
connection broke, whether half a character was replaced, what a 200 that is no event stream said. They also nest
generators, so that closing the outermost one does not close the connection at once. A watch sees and does both.
Attaching needs nothing but the event hooks that every httpx2 client has.
"""

from __future__ import annotations

import codecs
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpx2

_HEAD_BYTES = 8192
"""How much of a body is kept to find out what an answer without events was: more than any error body."""
_DONE = (b"\ndata: [DONE]", b"\ndata:[DONE]", b"\rdata: [DONE]", b"\rdata:[DONE]")
_TAIL_BYTES = max(map(len, _DONE)) - 1

_current: ContextVar[Watch | None] = ContextVar("policyengine_watch", default=None)


class NotUtf8Error(ValueError):
    """The body holds bytes that are no UTF-8."""


class Watch:
    """What is known about one response as its bytes come in.

    `started`: a response head arrived. `ended`: the whole body arrived. `done`: the `[DONE]` of the OpenAI dialect
    arrived. `readable` is false where the body is compressed, which leaves `done` and `head` empty.
    """

    def __init__(self) -> None:
        self.started = False
        self.ended = False
        self.done = False
        self.not_utf8 = False
        self.readable = True
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.head = b""
        self._tail = b"\n"
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._response: httpx2.Response | None = None

    @property
    def content_type(self) -> str:
        """The media type of the response, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def start(self, response: httpx2.Response) -> None:
        """Take the head of the response and look at its body from now on."""
        self.started = True
        self.status = response.status_code
        self.headers = response.headers
        self.readable = response.headers.get("content-encoding", "identity") == "identity"
        self._response = response
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _WatchedBody(self, response.stream)

    def feed(self, chunk: bytes) -> None:
        """Look at bytes of the body. Raises NotUtf8Error."""
        if not self.readable:
            return
        if len(self.head) < _HEAD_BYTES:
            self.head += chunk[: _HEAD_BYTES - len(self.head)]
        if not self.done:
            seen = self._tail + chunk
            self.done = any(mark in seen for mark in _DONE)
            self._tail = seen[-_TAIL_BYTES:]
        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError:
            self.not_utf8 = True
            raise NotUtf8Error from None

    async def close(self) -> None:
        """Close the response: at once, where its body did not end by itself."""
        if self._response is not None:
            await self._response.aclose()


class _WatchedBody(httpx2.AsyncByteStream):
    """A response body that passes through a watch."""

    def __init__(self, watch: Watch, body: httpx2.AsyncByteStream) -> None:
        self._watch = watch
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._watch.feed(chunk)
            yield chunk
        self._watch.ended = True

    async def aclose(self) -> None:
        await self._body.aclose()


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Attach `watch` to the response of the request that is sent inside."""
    token = _current.set(watch)
    try:
        yield
    finally:
        _current.reset(token)


async def _on_response(response: httpx2.Response) -> None:
    watch = _current.get()
    if watch is not None and not response.has_redirect_location:
        watch.start(response)


@cache
def ssl_context() -> ssl.SSLContext:
    """One context for all clients of the process: reading the certificates is the dearest part of a client."""
    return httpx2.create_ssl_context()


def http_client(timeout_s: float | None) -> httpx2.AsyncClient:
    """An HTTP client whose responses can be watched.

    `timeout_s` bounds connecting and each wait for bytes; None leaves all waiting to the caller.
    """
    waits = httpx2.Timeout(timeout_s)

    async def on_request(request: httpx2.Request) -> None:
        # A compressed event stream could not be watched, and gains little: events are small and come one by one.
        request.headers["Accept-Encoding"] = "identity"
        # An SDK may have put a limit of its own here, or taken ours away.
        request.extensions["timeout"] = waits.as_dict()

    hooks: dict[str, list[Callable[..., Any]]] = {"request": [on_request], "response": [_on_response]}
    return httpx2.AsyncClient(
        verify=ssl_context(),
        timeout=waits,
        # How many calls run at once is the caller's to say; a full pool would look like a slow provider.
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        follow_redirects=True,
        event_hooks=hooks,
    )
