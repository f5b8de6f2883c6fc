"""Asking a real model from a command: one question, one whole answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from policyengine.source.errors import InputError

if TYPE_CHECKING:
    from policyengine.compression.method import Answer, Ask
    from policyengine.kinds.loop import Loop
    from policyengine.runtime.provider import Provider

PROVIDERS = ("openai", "openai-responses", "anthropic", "gemini", "qwen")

provider_option = click.option(
    "--provider",
    type=click.Choice(PROVIDERS),
    help="Ask a model of this provider; the key is in its own variable.",
)
model_option = click.option("--model", metavar="NAME", help="The model to ask.")
base_url_option = click.option("--base-url", metavar="URL", help="A server that speaks this provider's dialect.")


def asker(
    loop: Loop, provider: str | None, model: str | None, base_url: str | None, cap: int | None = None
) -> Callable[[Ask], Answer] | None:
    """A function that asks the model; None where no provider was named.

    `cap` bounds an answer (tokens); without it, what CompactionCall allows. Raises InputError where the model is not
    named, or the options do not fit each other.
    """
    if provider is None:
        if model or base_url:
            raise InputError("--model and --base-url need --provider, which says how to speak to the server")
        return None
    if model is None:
        raise InputError("--provider needs --model: the name of the model to ask")

    def ask(question: Ask) -> Answer:
        return asyncio.run(_ask(loop, provider, model, base_url, cap, question))

    return ask


async def _ask(loop: Loop, provider: str, model: str, base_url: str | None, cap: int | None, question: Ask) -> Answer:
    from policyengine.compression.method import Answer
    from policyengine.runtime.messages import Message, Text
    from policyengine.runtime.provider import CallStarted, Finished, ProviderError, Request, TextDelta

    roles = ("user", "assistant")
    messages = [Message(roles[n % 2], (Text(text),)) for n, text in enumerate(question.messages)]  # type: ignore[arg-type]
    facts = loop.model(model)
    request = Request(
        model=model,
        facts=facts,
        system=question.system,
        messages=messages,
        max_output_tokens=cap if cap is not None else _cap(loop, model, question),
        thinking="off",
    )
    client = _provider(provider, base_url)
    text: list[str] = []
    called = False
    finish = "error"
    try:
        async for event in client.stream(request):
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, CallStarted):
                called = True
            elif isinstance(event, Finished):
                finish = event.reason
    except ProviderError as error:
        raise InputError(f"{provider} did not answer: {error}") from None
    finally:
        await client.close()
    return Answer("".join(text), "tool_calls" if called else finish)  # type: ignore[arg-type]


def _cap(loop: Loop, model: str, question: Ask) -> int:
    """The cap of the compaction call, as its policy decides it. Raises InputError where there is no room to ask."""
    from policyengine.kinds.prompt_size import Sizes

    size = sum(len(text.encode("utf-8", "replace")) for text in (question.system, *question.messages))
    facts = loop.model(model)
    given = {
        "window": loop.window(model),
        "input_tokens": loop.size_tokens(Sizes(size)),
        "cap": None,
        "max_output": facts["max_output"],
        "thinking_headroom": facts["thinking_headroom"],
    }
    decided = loop.bundle.serving("CompactionCall").outcome(given)
    if not decided["call"]:
        raise InputError(f"{model}: the record leaves no room in the window for a summary; cut earlier with --at")
    cap: int = decided["max_output_tokens"]
    return cap


def _provider(name: str, base_url: str | None) -> Provider:
    from policyengine.runtime.providers.streaming import Options

    if name == "anthropic":
        from policyengine.runtime.providers.anthropic import Anthropic

        return Anthropic(Options(base_url=base_url))
    if name == "gemini":
        from policyengine.runtime.providers.gemini import Gemini, GeminiOptions

        return Gemini(GeminiOptions(base_url=base_url))
    if name == "openai-responses":
        from policyengine.runtime.providers.openai_responses import OpenAIResponses

        return OpenAIResponses(Options(base_url=base_url))
    from policyengine.runtime.providers.openai_chat import ChatOptions, OpenAIChat

    return OpenAIChat(ChatOptions(base_url=base_url), name)
