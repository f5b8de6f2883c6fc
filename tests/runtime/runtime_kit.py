"""A tiny provider that plays scripts, and what the tests of the adapter share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from policyengine.kinds.bundle import Bundle, load
from policyengine.runtime.adapter import Adapter
from policyengine.runtime.events import Event
from policyengine.runtime.history import problems
from policyengine.runtime.journal import ListSink
from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finished,
    ProviderError,
    Request,
    StreamEvent,
    TextDelta,
    UsageReport,
)
from policyengine.runtime.session import Session
from policyengine.runtime.tools import Tool, ToolOutput

Step = StreamEvent | BaseException | float | Callable[[], Any]
"""What a stream does next: an event, something raised, a wait in seconds, or a function that is called."""


@dataclass
class Script:
    """Plays one list of steps a request, in order; the last one again and again."""

    streams: Sequence[Sequence[Step] | Callable[[Request], Sequence[Step]]]
    name: str = "scripted"
    requests: list[Request] = field(default_factory=list)
    closed: int = 0
    pauses: bool = False
    """A scheduling point before each event, so that a test can cancel there."""

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        number = len(self.requests)
        self.requests.append(request)
        steps = self.streams[min(number, len(self.streams) - 1)]
        try:
            for step in steps(request) if callable(steps) else steps:
                if self.pauses:
                    await asyncio.sleep(0)
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                elif callable(step):
                    step()
                else:
                    yield step
        finally:
            self.closed += 1

    async def close(self) -> None:
        pass


def usage(prompt: int | None = 100, output: int | None = 10, **more: int) -> UsageReport:
    return UsageReport(input=prompt, output=output, **more)


def says(text: str, prompt: int | None = 100, output: int | None = 10) -> list[Step]:
    """A good answer of two chunks."""
    half = len(text) // 2
    return [TextDelta(text[:half]), TextDelta(text[half:]), usage(prompt, output), Finished("stop", "stop")]


def calls(*wanted: tuple[str, str, dict[str, Any]], text: str = "", prompt: int = 100) -> list[Step]:
    """An answer with tool calls: id, name, arguments."""
    steps: list[Step] = [TextDelta(text)] if text else []
    for index, (call_id, name, arguments) in enumerate(wanted):
        steps.append(CallStarted(index, call_id, name))
        steps.append(CallFinished(index, call_id, name, json.dumps(arguments)))
    return [*steps, usage(prompt), Finished("tool_calls", "tool_calls")]


def fault(kind: str, status: int | None = None, after: float | None = None) -> ProviderError:
    return ProviderError(kind, f"scripted: {kind}", status=status, retry_after_s=after)  # type: ignore[arg-type]


def tool(name: str = "look", run: Any = None, **more: Any) -> Tool:
    """A tool that reads."""
    return Tool(
        name,
        "Looks at something.",
        {"type": "object", "properties": {"what": {"type": "string"}}},
        run or (lambda arguments: ToolOutput(f"seen {arguments.get('what', '')}")),
        **{"kind": "read", **more},
    )


@lru_cache(maxsize=1)
def builtin() -> Bundle:
    return load()


@lru_cache(maxsize=64)
def _changed(constants: str) -> Bundle:
    bundle = builtin()
    policies = dict(bundle.policies)
    for name, values in json.loads(constants).items():
        policy = policies[name.replace("_", "-")]
        policies[policy.name] = policy.with_constants(values)
    return replace(bundle, policies=policies)


def changed(**constants: dict[str, Any]) -> Bundle:
    """The built-in bundle with constants of some policies replaced: policy name with `_` for `-`, constants."""
    return _changed(json.dumps(constants))


def quick(**constants: dict[str, Any]) -> Bundle:
    """The built-in bundle without waits before a retry."""
    return changed(**{"retry": {"backoff_ms": [0]}, **constants})


LOOK = ("c1", "look", {"what": "a"})
"""A call of the tool that `tool` makes."""


def adapter(script: Script | Sequence[Script], **more: Any) -> tuple[Adapter, ListSink]:
    log = more.pop("log", None) or ListSink()
    providers = [script] if isinstance(script, Script) else list(script)
    return Adapter(more.pop("bundle", None) or builtin(), providers, log=log, **more), log


def session(script: Script, *, log: Any = None, tools: Sequence[Tool] = (), **more: Any) -> Session:
    made, _ = adapter(script, log=log, bundle=more.pop("bundle", None))
    return made.session(more.pop("primary", "big"), tools=tools, **more)


def fast_session(script: Script, **more: Any) -> tuple[Session, ListSink]:
    """A session that routes to a fast model after its tool, and its log."""
    options = {key: more.pop(key) for key in ("tools", "strategy", "always_summarize", "fast_routing") if key in more}
    made, log = adapter(script, bundle=more.pop("bundle", None) or quick(), **more)
    options = {"tools": [tool()], "fast_routing": True, **options}
    return made.session("big", fast="small", window=200_000, fast_window=200_000, **options), log


def turn_of(one: Session, message: str = "show me the file") -> list[Event]:
    """The events of one turn."""
    return asyncio.run(events(one.send(message)))


async def events(stream: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in stream]


def of(found: Sequence[Event], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


def texts(one: Session) -> list[tuple[str, list[str]]]:
    """The history as role and texts."""
    return [(m.role, [getattr(b, "text", None) or getattr(b, "name", "") for b in m.blocks]) for m in one.messages]


def valid(one: Session) -> None:
    assert problems(one.messages) == []
