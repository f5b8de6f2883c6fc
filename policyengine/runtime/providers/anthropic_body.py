"""A request in the form of Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.runtime.messages import Block, Call, Image, Result, Text, Thinking
from policyengine.runtime.provider import Request, ToolSpec
from policyengine.runtime.providers.alternation import alternating, turns
from policyengine.runtime.providers.failures import plain_failure
from policyengine.runtime.providers.request_facts import goes_back, marks_cache, thinking_fields, tools_on_wire
from policyengine.runtime.providers.streaming import Options
from policyengine.runtime.providers.tool_calls import plain_id

MARK = {"type": "ephemeral"}
_UNMARKED = ("thinking", "redacted_thinking")

Json = dict[str, Any]


def anthropic_body(request: Request, options: Options, name: str) -> Json:
    """The whole body. Raises ProviderError where no output cap is known: this API wants one."""
    cap = request.max_output_tokens if request.max_output_tokens is not None else request.facts.get("max_output")
    if cap is None:
        wrong = "this API needs an output cap, and the catalogue has none for this model; give max_output"
        raise plain_failure(name, "refused", f"{wrong} (`policyengine run`: --max-output N)")
    body: Json = {"model": request.model, "max_tokens": cap, "stream": True}
    if request.system:
        body["system"] = [{"type": "text", "text": request.system}]
    body["messages"] = list(_messages(request, options, name))
    tools, none = tools_on_wire(request)
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
        if none:
            body["tool_choice"] = {"type": "none"}
    if marks_cache(request):
        _mark(body)
    return {**body, **thinking_fields(request)}


def _messages(request: Request, options: Options, name: str) -> Iterator[Json]:
    for role, blocks in turns(alternating(request.messages, options.gap, options.filler)):
        content = [part for block in blocks if (part := _part(block, request, name)) is not None]
        # A turn may be left with nothing that this API takes (foreign thinking, white space): it still has its place.
        yield {"role": role, "content": content or [{"type": "text", "text": options.filler}]}


def _part(block: Block, request: Request, name: str) -> Json | None:
    if isinstance(block, Thinking):
        return dict(block.raw) if goes_back(block, request, name) else None
    if isinstance(block, Call):
        return {"type": "tool_use", "id": plain_id(block.id), "name": block.name, "input": dict(block.arguments)}
    if isinstance(block, Result):
        return _result(block)
    return _shown(block)


def _shown(block: Text | Image) -> Json | None:
    if isinstance(block, Text):
        # Text that is only white space is refused.
        return {"type": "text", "text": block.text} if block.text.strip() else None
    source = {"type": "base64", "media_type": block.media_type, "data": block.data}
    return {"type": "image" if block.media_type.startswith("image/") else "document", "source": source}


def _result(result: Result) -> Json:
    part: Json = {"type": "tool_result", "tool_use_id": plain_id(result.call_id)}
    content = [shown for item in result.parts if (shown := _shown(item)) is not None]
    if content:
        part["content"] = content
    if result.error or result.cancelled:
        part["is_error"] = True
    return part


def _tool(tool: ToolSpec) -> Json:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}


def _mark(body: Json) -> None:
    """Ephemeral marks on the system text, the last message and the last tool definition."""
    if "system" in body:
        body["system"][-1]["cache_control"] = MARK
    if body["messages"]:
        parts = [part for part in body["messages"][-1]["content"] if part["type"] not in _UNMARKED]
        if parts:
            parts[-1]["cache_control"] = MARK
    if "tools" in body:
        body["tools"][-1]["cache_control"] = MARK
