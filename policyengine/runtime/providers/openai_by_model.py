"""OpenAI by model: Chat Completions, or Responses where a model has no other API."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from policyengine.kinds.capabilities import api_of
from policyengine.runtime.provider import Request, StreamEvent
from policyengine.runtime.providers.openai_chat import ChatOptions, OpenAIChat
from policyengine.runtime.providers.openai_responses import OpenAIResponses
from policyengine.runtime.providers.streaming import Options


class OpenAIByModel:
    """Sends each request over the API that its model has."""

    def __init__(self, options: ChatOptions | None = None, name: str = "openai") -> None:
        chat = options or ChatOptions()
        self.name = name
        self.chat = OpenAIChat(chat, name)
        self.responses = OpenAIResponses(
            Options(chat.api_key, chat.base_url, chat.timeout_s, chat.gap, chat.filler), name
        )

    def api(self, request: Request) -> str:
        """`chat` or `responses`, as capabilities and the catalogue call them."""
        return api_of(request.facts)

    async def stream(self, request: Request) -> AsyncGenerator[StreamEvent, None]:
        """Stream one response. Raises ProviderError."""
        serving = self.responses if self.api(request) == "responses" else self.chat
        async with aclosing(serving.stream(request)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Release the connections of both."""
        await self.chat.close()
        await self.responses.close()
