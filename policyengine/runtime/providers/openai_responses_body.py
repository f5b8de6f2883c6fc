"""A request in the form of OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.runtime.messages import Block, Call, Image, Message, Result, Text, Thinking
from policyengine.runtime.provider import Request
from policyengine.runtime.providers.alternation import alternating
from policyengine.runtime.providers.request_facts import goes_back, thinking_fields, tools_on_wire
from policyengine.runtime.providers.streaming import Options, to_json

ENCRYPTED = "reasoning.encrypted_content"

Json = dict[str, Any]


def responses_body(request: Request, options: Options, name: str) -> Json:
    """The whole body. Nothing is stored at the server: the history is ours."""
    said = alternating(request.messages, options.gap, options.filler)
    body: Json = {
        "model": request.model,
        "input": [item for message in said for item in _items(message, request, name)],
        "stream": True,
        "store": False,
    }
    if request.system:
        body["instructions"] = request.system
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    tools, none = tools_on_wire(request)
    if tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": False,
            }
            for tool in tools
        ]
        if none:
            body["tool_choice"] = "none"
    if request.facts.get("thinking") in ("optional", "always"):
        # Without storage, reasoning can only go back in this form; a model that does not think refuses the wish.
        body["include"] = [ENCRYPTED]
    return {**body, **thinking_fields(request, "responses")}


def _items(message: Message, request: Request, name: str) -> Iterator[Json]:
    shown: list[Json] = []
    for block in message.blocks:
        item = _item(block, request, name)
        if item is not None:
            yield from _message(message, shown)
            shown = []
            yield item
        elif (part := _part(block, message)) is not None:
            shown.append(part)
    yield from _message(message, shown)


def _message(message: Message, shown: list[Json]) -> Iterator[Json]:
    if shown:
        yield {"type": "message", "role": "assistant" if message.role == "assistant" else "user", "content": shown}


def _item(block: Block, request: Request, name: str) -> Json | None:
    """What stands beside messages: reasoning, calls, results."""
    if isinstance(block, Thinking):
        return dict(block.raw) if goes_back(block, request, name) else None
    if isinstance(block, Call):
        arguments = block.raw_arguments if block.raw_arguments is not None else to_json(block.arguments)
        return {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
    if isinstance(block, Result):
        return {"type": "function_call_output", "call_id": block.call_id, "output": _output(block)}
    return None


def _output(result: Result) -> str | list[Json]:
    if all(isinstance(part, Text) for part in result.parts):
        return "\n".join(part.text for part in result.parts if isinstance(part, Text))
    return [_input(part) for part in result.parts]


def _part(block: Block, message: Message) -> Json | None:
    if isinstance(block, Text) and message.role == "assistant":
        return {"type": "output_text", "text": block.text}
    return _input(block) if isinstance(block, Text | Image) else None


def _input(part: Text | Image) -> Json:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    url = f"data:{part.media_type};base64,{part.data}"
    if part.media_type.startswith("image/"):
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": "document", "file_data": url}
