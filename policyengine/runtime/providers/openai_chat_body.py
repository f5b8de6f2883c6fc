"""A request in the form of OpenAI's Chat Completions, also for compatible servers and DashScope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from policyengine.runtime.messages import Block, Call, Image, Message, Result, Text
from policyengine.runtime.provider import Request, ToolSpec
from policyengine.runtime.providers.alternation import alternating
from policyengine.runtime.providers.request_facts import marks_cache, thinking_fields, tools_on_wire
from policyengine.runtime.providers.streaming import Options, to_json

MARK = {"type": "ephemeral"}

Json = dict[str, Any]


def chat_body(request: Request, options: Options, cap_field: str, *, plain_text: bool = False) -> Json:
    """The whole body. `cap_field` is the name of the output cap at this server; `plain_text` says that it takes only
    strings as contents."""
    messages = list(_messages(request, options))
    if plain_text:
        messages = [{**message, "content": _plain(message["content"])} for message in messages]
    tools, none = tools_on_wire(request)
    body: Json = {
        "model": request.model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
        if none:
            body["tool_choice"] = "none"
    if request.max_output_tokens is not None:
        body[cap_field] = request.max_output_tokens
    if marks_cache(request):
        _mark(body)
    return {**body, **thinking_fields(request, "chat")}


def _messages(request: Request, options: Options) -> Iterator[Json]:
    if request.system:
        yield {"role": "system", "content": request.system}
    said = alternating(request.messages, options.gap, options.filler)
    for role, group in groupby(said, lambda message: message.role):
        if role == "tool":
            yield from _results([block for message in group for block in message.blocks])
            continue
        for message in group:
            if role == "assistant":
                yield from _assistant(message)
            else:
                yield {"role": "user", "content": _content(message.blocks)}


def _assistant(message: Message) -> Iterator[Json]:
    # Reasoning is left out: none of these APIs wants it back.
    text = "".join(block.text for block in message.blocks if isinstance(block, Text))
    calls = [_call(block) for block in message.blocks if isinstance(block, Call)]
    if calls:
        yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    else:
        yield {"role": "assistant", "content": text}


def _call(call: Call) -> Json:
    arguments = call.raw_arguments if call.raw_arguments is not None else to_json(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _results(blocks: Sequence[Block]) -> Iterator[Json]:
    """One message a result; images follow them all in a user message, since a tool message takes only text."""
    images: list[Text | Image] = []
    for result in blocks:
        if not isinstance(result, Result):
            continue
        texts = [part.text for part in result.parts if isinstance(part, Text)]
        yield {"role": "tool", "tool_call_id": result.call_id, "content": "\n".join(texts)}
        images += [part for part in result.parts if isinstance(part, Image)]
    if images:
        yield {"role": "user", "content": _content(images)}


def _content(blocks: Sequence[object]) -> str | list[Json]:
    if len(blocks) == 1 and isinstance(blocks[0], Text):
        return blocks[0].text
    return [part for block in blocks if (part := _part(block)) is not None]


def _plain(content: str | list[Json] | None) -> str | list[Json]:
    """A string where that loses nothing; what holds an image stays a list."""
    if content is None:
        return ""
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        return "\n".join(part["text"] for part in content)
    return content


def _part(block: object) -> Json | None:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Image):
        url = f"data:{block.media_type};base64,{block.data}"
        if block.media_type.startswith("image/"):
            return {"type": "image_url", "image_url": {"url": url}}
        return {"type": "file", "file": {"filename": "document", "file_data": url}}
    return None


def _tool(tool: ToolSpec) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _mark(body: Json) -> None:
    """Ephemeral marks on the system text, the last message and the last tool definition."""
    messages: list[Json] = body["messages"]
    marked = [message for message in messages if message["role"] == "system"][:1] + messages[-1:]
    for message in marked:
        parts = _as_parts(message["content"])
        if parts:
            parts[-1]["cache_control"] = MARK
            message["content"] = parts
    if "tools" in body:
        body["tools"][-1]["cache_control"] = MARK


def _as_parts(content: str | list[Json] | None) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def usage_of(usage: Any) -> Mapping[str, object]:
    """The counts of a usage object of this dialect (see `UsageReport`)."""
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    written = getattr(prompt, "cache_write_tokens", None)
    if written is None:
        written = getattr(prompt, "cache_creation_input_tokens", None)
    return {
        "input": getattr(usage, "prompt_tokens", None),
        "cache_read": getattr(prompt, "cached_tokens", None),
        "cache_write": written,
        "output": getattr(usage, "completion_tokens", None),
        "reasoning": getattr(completion, "reasoning_tokens", None),
    }
