"""The fault suite: every way an answer can go wrong, over every API, with what must come out of it.

`python -m tests.runtime.providers.fault_table` runs it and prints the table in docs/faults.md.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from email.utils import formatdate

from policyengine.runtime.provider import TextDelta
from policyengine.runtime.providers.usage import sources
from tests.runtime.peers.dialects import ARGUMENTS, SAID, Dialect, sse
from tests.runtime.peers.server import Answer, Cut, Pause, Peer, answer
from tests.runtime.providers.support import KEY, Outcome, ask, collect, provider, request

STALL_S = 0.3
"""The providers' own time limit where a peer stalls; without one they would wait for good."""
SOON_S = 1.0
"""How soon a peer must see that a client left; it takes a millisecond, a busy machine more."""


@dataclass(frozen=True)
class Fault:
    """A fault. `run` plays it against a dialect and says what came out; `expected` is what must, by dialect."""

    id: str
    what: str
    run: Callable[[Dialect], Awaitable[str]]
    expected: str
    special: dict[str, str] = field(default_factory=dict)

    def must(self, dialect: str) -> str:
        """What must come out in a dialect."""
        return self.special.get(dialect, self.expected)


def check_whole(dialect: Dialect, outcome: Outcome) -> None:
    """A success must be the whole recorded answer."""
    assert outcome.finished is not None
    assert outcome.text == SAID
    assert [(call.name, json.loads(call.arguments)) for call in outcome.calls] == [("read_file", ARGUMENTS)]
    assert outcome.finished.reason == "tool_calls"
    assert outcome.usage is not None
    assert outcome.usage.output == 20


async def _kind(dialect: Dialect, given: Answer | Sequence[Answer], **options: object) -> str:
    """What one request comes to; no SDK may have sent it again."""
    script = [given] if isinstance(given, Answer) else given
    async with Peer(script) as peer:
        outcome = await ask(dialect.name, peer.url, **options)
        assert len(peer.requests) == 1, "an SDK sent the request again"
    if outcome.error is not None and outcome.error.retry_after_s is not None:
        return f"{outcome.kind}, wait {outcome.error.retry_after_s:g} s"
    return outcome.kind


def _played(build: Callable[[Dialect], Answer], **options: object) -> Callable[[Dialect], Awaitable[str]]:
    return lambda dialect: _kind(dialect, build(dialect), **options)


def _recorded(
    change: Callable[[Sequence[bytes]], Iterable[bytes | Pause | Cut]],
) -> Callable[[Dialect], Awaitable[str]]:
    """The recorded stream, changed; where it comes out whole it must be the whole answer."""

    async def run(dialect: Dialect) -> str:
        async with Peer([answer(*change(dialect.recorded))]) as peer:
            outcome = await ask(dialect.name, peer.url)
            assert len(peer.requests) == 1, "an SDK sent the request again"
        if outcome.kind == "whole":
            check_whole(dialect, outcome)
        return outcome.kind

    return run


def offsets(length: int, *, every: bool) -> Iterable[int]:
    """The offsets to cut at: all, or a sample with all of the tail, where the end marker comes in piece by piece."""
    return range(length) if every else sorted({*range(0, length, 41), *range(length - 30, length)})


async def cut_everywhere(dialect: Dialect, how: str, *, every: bool) -> set[str]:
    """What comes of the recorded stream cut at its offsets. A success must be the whole answer."""
    whole = dialect.whole
    cut = Cut(how)  # type: ignore[arg-type]
    kinds: set[str] = set()
    given = provider(dialect.name, "http://127.0.0.1:1")
    at = iter(())
    async with Peer(lambda _: answer(whole[: next(at)], cut)) as peer:  # type: ignore[call-overload]
        given = provider(dialect.name, peer.url)
        for count, offset in enumerate(offsets(len(whole), every=every), 1):
            at = iter((offset,))
            outcome = await collect(given, request(dialect.name))
            assert len(peer.requests) == count, "an SDK sent the request again"
            if outcome.kind == "whole":
                # The end marker is in; what is missing of the stream is its last line break.
                check_whole(dialect, outcome)
                assert offset > len(whole) - len(dialect.recorded[-1]), offset
            else:
                kinds.add(outcome.kind)
        await given.close()
    return kinds


def _cut(how: str) -> Callable[[Dialect], Awaitable[str]]:
    async def run(dialect: Dialect) -> str:
        return ", ".join(sorted(await cut_everywhere(dialect, how, every=EVERY_OFFSET)))

    return run


EVERY_OFFSET = False
"""Whether the cuts try every offset; the command that prints the table and `make soak` do."""


def _text(dialect: Dialect, *events: bytes, end: bool = True) -> Answer:
    return answer(*dialect.opening, *events, *(dialect.ending if end else ()))


def _broken_character(dialect: Dialect) -> Answer:
    event = dialect.text_event("世").replace("世".encode(), "世".encode()[:2])
    return _text(dialect, dialect.text_event("Hi"), event)


def _error(status: int, code: str, **headers: str) -> Callable[[Dialect], Answer]:
    def build(dialect: Dialect) -> Answer:
        words = {"gemini": _GEMINI, "anthropic": _ANTHROPIC}.get(dialect.name, _OPENAI)
        body = dialect.error_body(status, words[code], f"the prompt said hunter2, the key was {KEY}")
        return answer(json.dumps(body).encode(), status=status, content_type="application/json", **headers)

    return build


_OPENAI = {"limit": "rate_limit_exceeded", "key": "invalid_api_key", "server": "server_error", "bad": "invalid_value"}
_ANTHROPIC = {
    "limit": "rate_limit_error",
    "key": "authentication_error",
    "server": "overloaded_error",
    "bad": "invalid_request_error",
}
_GEMINI = {"limit": "RESOURCE_EXHAUSTED", "key": "UNAUTHENTICATED", "server": "UNAVAILABLE", "bad": "INVALID_ARGUMENT"}


def _overflow(dialect: Dialect) -> Answer:
    status, body = dialect.overflow
    return answer(json.dumps(body).encode(), status=status, content_type="application/json")


def _error_body_with_200(dialect: Dialect) -> Answer:
    body = dialect.error_body(500, "server_error" if dialect.name != "gemini" else "INTERNAL", "hunter2")
    return answer(json.dumps(body).encode(), content_type="application/json")


async def _refused_connection(dialect: Dialect) -> str:
    async with Peer([]) as peer:
        url = peer.url
    return (await ask(dialect.name, url)).kind


async def _same_ids(dialect: Dialect) -> str:
    calls = dialect.calls([("same", "read_file", ['{"path":', '"a"}']), ("same", "read_file", ['{"path":"b"}'])])
    async with Peer([answer(*calls)]) as peer:
        outcome = await ask(dialect.name, peer.url)
    assert [json.loads(call.arguments)["path"] for call in outcome.calls] == ["a", "b"]
    assert outcome.calls[0].id == "same"
    assert outcome.calls[1].provider_data["sent_id"] == "same"
    assert [call.id for call in outcome.started] == [call.id for call in outcome.calls]
    return "two calls, two ids" if len({call.id for call in outcome.calls}) == 2 else "one id twice"


async def _left(dialect: Dialect) -> str:
    """The reader leaves after the first text."""
    async with Peer([answer(*dialect.opening, dialect.text_event("Hi"), Pause())]) as peer:
        given = provider(dialect.name, peer.url)
        async with aclosing(given.stream(request(dialect.name))) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        await asyncio.wait_for(peer.someone_left.wait(), SOON_S)
        assert len(peer.requests) == 1
        await given.close()
    return "closed at once"


async def _cancelled(dialect: Dialect) -> str:
    """The reading task is cancelled while nothing comes."""
    async with Peer([answer(*dialect.opening, dialect.text_event("Hi"), Pause())]) as peer:
        given = provider(dialect.name, peer.url)
        task = asyncio.ensure_future(collect(given, request(dialect.name)))
        while not peer.requests:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait_for(peer.someone_left.wait(), SOON_S)
        assert (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError
        await given.close()
    return "closed at once"


async def _no_usage(dialect: Dialect) -> str:
    """The stream is cut in the middle: what of usage is known then."""
    async with Peer([answer(*dialect.recorded[:2], Cut("close"))]) as peer:
        outcome = await ask(dialect.name, peer.url)
    assert outcome.error is not None
    known = [name for name, source in sources(outcome.error.usage).items() if source == "usage"]
    return "known: " + ", ".join(known) if known else "all estimated"


FAULTS = (
    Fault("none", "nothing", _recorded(lambda events: events), "whole"),
    Fault(
        "byte_by_byte",
        "every byte in a packet of its own",
        _recorded(lambda events: [bytes([byte]) for byte in b"".join(events)]),
        "whole",
    ),
    Fault(
        "crlf",
        "CRLF line ends, blank lines",
        _recorded(lambda events: [b"\r\n", *(event.replace(b"\n", b"\r\n") for event in events), b"\r\n"]),
        "whole",
    ),
    Fault(
        "comments",
        "comments between events",
        _recorded(lambda events: [piece for event in events for piece in (b": keep-alive\n\n", event)]),
        "whole",
        {"gemini": "protocol"},
    ),
    Fault("cut_end", "cut at every byte, the body ends as if all was well", _cut("end"), "incomplete"),
    Fault("cut_close", "cut at every byte, the connection is closed", _cut("close"), "incomplete"),
    Fault("cut_reset", "cut at every byte, the connection is reset", _cut("reset"), "incomplete"),
    Fault("empty", "an empty stream", _played(lambda _: answer()), "incomplete"),
    Fault(
        "usage_after_cut",
        "usage after a cut",
        _no_usage,
        "all estimated",
        {
            "anthropic": "known: input, cache_read, cache_write",
            "gemini": "known: input, cache_read, output, reasoning",
        },
    ),
    Fault(
        "no_end", "text, and no end marker", _played(lambda d: _text(d, d.text_event("Hi"), end=False)), "incomplete"
    ),
    Fault("half_character", "half a UTF-8 character in mid-stream", _played(_broken_character), "protocol"),
    Fault(
        "bad_json",
        "an event whose JSON is broken",
        _played(lambda d: _text(d, d.text_event("Hi").replace(b'"Hi"', b'"Hi'))),
        "protocol",
    ),
    Fault(
        "odd_json",
        "an event that is JSON of another shape",
        _recorded(lambda events: [events[0], sse([1, 2], "ping"), *events[1:]]),
        "whole",
        {"gemini": "protocol"},
    ),
    Fault(
        "error_event",
        "an error event inside the stream",
        _played(lambda d: _text(d, d.text_event("Hi"), d.error_event("hunter2"), end=False)),
        "overloaded",
    ),
    Fault("error_body", "a 200 with an error body", _played(_error_body_with_200), "overloaded"),
    Fault(
        "web_page",
        "a 200 with a web page",
        _played(lambda _: answer(b"<html>hunter2</html>", content_type="text/html")),
        "protocol",
    ),
    Fault("same_ids", "two tool calls of one id", _same_ids, "two calls, two ids"),
    Fault("http_400", "400", _played(_error(400, "bad")), "refused"),
    Fault("http_401", "401", _played(_error(401, "key")), "auth"),
    Fault(
        "http_429",
        "429, Retry-After in seconds",
        _played(_error(429, "limit", retry_after="2")),
        "rate_limit, wait 2 s",
    ),
    Fault(
        "http_429_date",
        "429, Retry-After as a date",
        _played(_error(429, "limit", date=formatdate(1e9, usegmt=True), retry_after=formatdate(1e9 + 7, usegmt=True))),
        "rate_limit, wait 7 s",
    ),
    Fault("http_503", "503", _played(_error(503, "server")), "overloaded"),
    Fault("overflow", "the prompt is too long", _played(_overflow), "context_overflow"),
    Fault(
        "error_page",
        "502 with a web page",
        _played(lambda _: answer(b"<html>hunter2</html>", status=502, content_type="text/html")),
        "overloaded",
    ),
    Fault("refused_connection", "nobody listens", _refused_connection, "connection"),
    Fault(
        "no_head", "closed before the answer's head", _played(lambda _: answer(Cut("close"), head=False)), "connection"
    ),
    Fault("no_head_reset", "reset before it", _played(lambda _: answer(Cut("reset"), head=False)), "connection"),
    Fault(
        "stall_first",
        "stall before the answer's head",
        _played(lambda _: answer(Pause(), head=False), timeout_s=STALL_S),
        "timeout",
    ),
    Fault(
        "stall_inside",
        "stall in mid-stream",
        _played(lambda d: answer(*d.opening, d.text_event("Hi"), Pause()), timeout_s=STALL_S),
        "timeout",
    ),
    Fault("left", "the reader leaves", _left, "closed at once"),
    Fault("cancelled", "the reader is cancelled", _cancelled, "closed at once"),
)
