"""What the tests of providers share: a provider per dialect against a peer, requests, and everything that came out."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from policyengine.kinds.bundle import load
from policyengine.kinds.loop import Loop
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import (
    CallFinished,
    CallStarted,
    Finished,
    Provider,
    ProviderError,
    Request,
    StreamEvent,
    TextDelta,
    ToolSpec,
    UsageReport,
)
from policyengine.runtime.providers.anthropic import Anthropic
from policyengine.runtime.providers.gemini import Gemini, GeminiOptions
from policyengine.runtime.providers.openai_chat import ChatOptions, OpenAIChat
from policyengine.runtime.providers.openai_responses import OpenAIResponses
from policyengine.runtime.providers.streaming import Options

KEY = "sk-test-0123456789abcdef0123456789"
PROMPT = "my secret prompt hunter2"

MODELS = {
    "openai": "gpt-6-sol",
    "openai-responses": "gpt-6-sol",
    "qwen": "qwen3.8-max",
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-2.5-flash",
}
"""The model that a single request of a dialect names."""
FAST = {
    "openai": "gpt-6-luna",
    "openai-responses": "gpt-6-luna",
    "qwen": "qwen3.6-flash",
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-3.5-flash",
}
"""The fast model beside the primary one of a dialect."""
PRIMARY = {**MODELS, "anthropic": "claude-opus-5"}
"""The primary model of a dialect, which is never its fast one."""
MODULES = {
    "openai": "openai",
    "openai-responses": "openai",
    "qwen": "openai",
    "anthropic": "anthropic",
    "gemini": "google.genai",
}
"""The module of a dialect's SDK."""

TOOL = ToolSpec(
    "read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)


def skip_without_sdk(name: str) -> None:
    """Skip the test, with a reason, where the SDK of a dialect is not installed."""
    module = MODULES[name]
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        pytest.skip(f"the SDK {module} is not installed")


def provider(name: str, url: str, **options: Any) -> Provider:
    """The provider of a dialect, talking to `url`."""
    options = {"api_key": KEY, **options}
    if name == "anthropic":
        return Anthropic(Options(base_url=url, **options))
    if name == "gemini":
        return Gemini(GeminiOptions(base_url=url, **options))
    if name == "openai-responses":
        return OpenAIResponses(Options(base_url=f"{url}/v1", **options))
    return OpenAIChat(ChatOptions(base_url=f"{url}/v1", **options), name)


@cache
def loop() -> Loop:
    """The default bundle's loop."""
    return Loop(load())


def facts(model: str) -> dict[str, Any]:
    """What the default catalogue says of a model."""
    return dict(loop().model(model))


def request(name: str, *messages: Message, model: str | None = None, **fields: Any) -> Request:
    """A request in a dialect; the plain prompt where there are no messages."""
    model = model or MODELS[name]
    said = messages or (Message("user", (Text(PROMPT),)),)
    return Request(model, fields.pop("facts", None) or facts(model), fields.pop("system", ""), said, **fields)


@dataclass
class Outcome:
    """Everything that one stream gave."""

    events: list[StreamEvent] = field(default_factory=list)
    error: ProviderError | None = None

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All visible text."""
        return "".join(event.text for event in self.of(TextDelta))

    @property
    def calls(self) -> list[CallFinished]:
        """The finished calls."""
        return self.of(CallFinished)

    @property
    def started(self) -> list[CallStarted]:
        """The calls that were seen to start."""
        return self.of(CallStarted)

    @property
    def usage(self) -> UsageReport | None:
        """The usage that counts."""
        found = self.of(UsageReport)
        return found[-1] if found else None

    @property
    def finished(self) -> Finished | None:
        """The end, where it came; it must be the last event."""
        found = self.of(Finished)
        assert len(found) <= 1
        assert not found or self.events[-1] is found[0]
        return found[0] if found else None

    @property
    def kind(self) -> str:
        """`whole`, or the kind of failure."""
        assert (self.error is None) == (self.finished is not None), "neither an end nor an error"
        return self.error.kind if self.error else "whole"


async def collect(given: Provider, asked: Request) -> Outcome:
    """All events of a stream, and its error. Nothing of prompt or key may hang on the error."""
    outcome = Outcome()
    try:
        async for event in given.stream(asked):
            outcome.events.append(event)
    except ProviderError as error:
        outcome.error = error
        assert_nothing_leaks(error)
    return outcome


def assert_nothing_leaks(error: BaseException) -> None:
    """Neither the key nor the prompt stands in an error or in anything it was raised from."""
    link: BaseException | None = error
    while link is not None:
        for text in (str(link), repr(link), repr(link.args), repr(getattr(link, "__notes__", ""))):
            assert KEY not in text
            assert "hunter2" not in text
        link = link.__cause__ or link.__context__


async def ask(name: str, url: str, asked: Request | None = None, **options: Any) -> Outcome:
    """One stream of a fresh provider."""
    given = provider(name, url, **options)
    try:
        return await collect(given, asked or request(name))
    finally:
        await given.close()


def named(names: Sequence[str]) -> Any:
    """A parametrisation over dialects."""
    return pytest.mark.parametrize("name", names)
