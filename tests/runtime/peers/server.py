"""A scripted HTTP/1.1 server on loopback: exact bytes, exact timing, and every way to break off.

    async with Peer([answer(b"data: ..."), answer(status=429)]) as peer:
        ...  # peer.url, peer.requests, peer.gone

Answers are given in order, the last one again and again. It shares no code with any client.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Pause:
    """Wait so many seconds; for the client to go where None."""

    seconds: float | None = None


@dataclass(frozen=True)
class Until:
    """Wait until the test sets the event."""

    event: asyncio.Event


@dataclass(frozen=True)
class Cut:
    """Break off: `close` ends the connection, `reset` sends a TCP reset, `end` ends the body as if all was well."""

    how: Literal["end", "close", "reset"]


Step: TypeAlias = "bytes | Pause | Until | Cut"


@dataclass(frozen=True)
class Answer:
    """One response. `steps` are written one by one, each in its own piece. `head` false sends nothing of a head."""

    steps: Sequence[Step]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    head: bool = True


def answer(
    *steps: Step, status: int = 200, content_type: str = "text/event-stream", head: bool = True, **headers: str
) -> Answer:
    """An answer; header names are written with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(steps, status, {"content-type": content_type, **named}, head)


@dataclass(frozen=True)
class Arrived:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The JSON of the body."""
        return json.loads(self.raw)


Script: TypeAlias = "Sequence[Answer] | Callable[[Arrived], Answer]"


class Peer:
    """The server. `requests` is what arrived; `gone` the times (monotonic, s) at which a client left in mid-answer."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._given = 0
        self.requests: list[Arrived] = []
        self.connections = 0
        self.gone: list[float] = []
        self.someone_left = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Peer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """The address, without a path."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def body(self) -> Any:
        """The JSON of the last request."""
        return self.requests[-1].body

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        first: bytes | None = b""
        try:
            while first is not None and (arrived := await _read(reader, first)) is not None:
                self.requests.append(arrived)
                first = await self._give(self._next(arrived), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    def _next(self, arrived: Arrived) -> Answer:
        if callable(self._script):
            return self._script(arrived)
        found = self._script[min(self._given, len(self._script) - 1)]
        self._given += 1
        return found

    async def _give(self, given: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes | None:
        """Write the answer, and see at once when the client leaves.

        The first byte of the next request, where it is already there; None where the connection is at its end.
        """
        writing = asyncio.ensure_future(_write(given, writer))
        # A client sends nothing before the answer is complete: what comes earlier is the end of its connection.
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                self.gone.append(time.monotonic())
                self.someone_left.set()
                return None
            again = writing.result()
            early = leaving.result() if leaving.done() else b""
            return early if again else None
        finally:
            for task in (writing, leaving):
                task.cancel()
            await asyncio.gather(writing, leaving, return_exceptions=True)


async def _write(given: Answer, writer: asyncio.StreamWriter) -> bool:
    if given.head:
        head = [f"HTTP/1.1 {given.status} Scripted", "transfer-encoding: chunked"]
        head += [f"{name}: {value}" for name, value in given.headers.items()]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
    for step in given.steps:
        if isinstance(step, Pause):
            await (asyncio.sleep(step.seconds) if step.seconds is not None else asyncio.Event().wait())
        elif isinstance(step, Until):
            await step.event.wait()
        elif isinstance(step, Cut):
            if step.how == "end":
                break
            await writer.drain()
            if step.how == "reset":
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
            return False
        elif step:
            writer.write(b"%x\r\n%s\r\n" % (len(step), step))
            await writer.drain()
            # The next piece goes into a packet of its own.
            await asyncio.sleep(0)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _read(reader: asyncio.StreamReader, first: bytes) -> Arrived | None:
    try:
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    top, *lines = head.split("\r\n")
    method, path, _ = top.split(" ")
    headers = {name.lower(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Arrived(method, path, headers, raw)
