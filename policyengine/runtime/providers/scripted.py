"""A provider that plays a script: the embedded default for tests and demonstrations, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finished,
    ProviderError,
    ReasoningDelta,
    Request,
    StreamEvent,
    TextDelta,
    ThinkingBlock,
)
from policyengine.runtime.providers.failures import plain_failure
from policyengine.runtime.providers.request_facts import tokens_over
from policyengine.runtime.providers.script import Script
from policyengine.runtime.providers.streaming import to_json
from policyengine.runtime.providers.tool_calls import CallIds, OpenCall
from policyengine.runtime.providers.usage import UsageSoFar

Sleep = Callable[[float], Awaitable[object]]


class Scripted:
    """Plays a script. `requests` holds what was asked; `closed_early` counts streams that the reader left."""

    def __init__(self, script: Script, *, name: str = "scripted", sleep: Sleep = asyncio.sleep) -> None:
        self.name = name
        self.script = script
        self.requests: list[Request] = []
        self.closed_early = 0
        self._sleep = sleep

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """The script's next answer to this request. Raises ProviderError as it says, or where it has none left."""
        self.requests.append(request)
        events = self.script.next(request)
        if events is None:
            raise plain_failure(self.name, "refused", f"{self.script.name} has no answer left for this call")
        playing = _Playing(self.name, request)
        whole = False
        try:
            for event in events:
                for kind, value in event.items():
                    if kind == "delay_ms":
                        await self._sleep(value / 1000)
                    elif kind == "stall":
                        await asyncio.Event().wait()
                    elif kind == "call":
                        started = playing.call(value)
                        yield started
                        if "delay_ms" in value:
                            await self._sleep(value["delay_ms"] / 1000)
                        yield playing.call_end()
                    else:
                        for made in playing.play(kind, value):
                            whole = whole or isinstance(made, Finished)
                            yield made
                if whole:
                    return
            raise playing.failure({"kind": "incomplete"})
        except GeneratorExit:
            self.closed_early += not whole
            raise
        except asyncio.CancelledError:
            self.closed_early += 1
            raise

    async def close(self) -> None:
        """Nothing to release."""


class _Playing:
    """One answer being played."""

    def __init__(self, name: str, request: Request) -> None:
        self._name = name
        self._request = request
        self._usage = UsageSoFar()
        self._ids = CallIds(request.messages)
        self._calls = 0
        self._open: OpenCall | None = None

    def call(self, call: Mapping[str, Any]) -> CallStarted:
        arguments = call.get("arguments", {})
        sent = call.get("id")
        # Like a provider: an id that a call of the session has already is given to no other.
        self._open = OpenCall(self._calls, self._ids.unique(sent), call["name"], sent)
        self._open.pieces.append(arguments if isinstance(arguments, str) else to_json(arguments))
        self._calls += 1
        return self._open.started()

    def call_end(self) -> CallFinished:
        assert self._open is not None
        return self._open.finished()

    def play(self, kind: str, value: Any) -> Iterator[StreamEvent]:
        if kind == "text":
            yield TextDelta(value)
        elif kind == "reasoning":
            yield ReasoningDelta(value)
        elif kind == "thinking_block":
            yield ThinkingBlock(value)
        elif kind == "usage":
            if (report := self._usage.take(**value)) is not None:
                yield report
        elif kind == "finish":
            end: Mapping[str, Any] = value if isinstance(value, Mapping) else {"reason": value}
            output = self._usage.report.output if self._usage.report else None
            over = tokens_over(output, self._request.max_output_tokens)
            yield Finished(end["reason"], end.get("raw", end["reason"]), over)
        else:
            raise self.failure(value if kind == "fault" else {"kind": "incomplete"})

    def failure(self, fault: Mapping[str, Any]) -> ProviderError:
        return plain_failure(
            self._name,
            fault["kind"],
            "scripted",
            status=fault.get("status"),
            retry_after_s=fault.get("retry_after_s"),
            usage=self._usage.report,
        )
