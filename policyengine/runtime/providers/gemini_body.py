"""A request in the form of Gemini's generateContent: contents, and a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.runtime.messages import Block, Call, Image, Message, Result, Text, Thinking
from policyengine.runtime.provider import Request
from policyengine.runtime.providers.alternation import alternating, turns
from policyengine.runtime.providers.request_facts import (
    goes_back,
    same_model,
    thinking_fields,
    tools_on_wire,
)
from policyengine.runtime.providers.streaming import Options

SIGNATURE = "thoughtSignature"
MODEL = "model"
"""In a call's provider data: its signature (base64), and the model that signed it."""

Json = dict[str, Any]


def gemini_body(request: Request, options: Options, name: str, unsigned: str | None) -> Json:
    """`model`, `contents` and `config` as the SDK takes them; `config` in JSON's own names.

    `unsigned` is sent as the signature of calls that have none of this model.
    """
    config: Json = {
        # Both would send further requests by themselves.
        "automaticFunctionCalling": {"disable": True},
        "automaticContinuation": False,
    }
    if request.system:
        config["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.max_output_tokens is not None:
        config["maxOutputTokens"] = request.max_output_tokens
    tools, none = tools_on_wire(request)
    if tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": dict(tool.parameters)}
            for tool in tools
        ]
        config["tools"] = [{"functionDeclarations": declarations}]
        if none:
            config["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    thinking = thinking_fields(request)
    if thinking:
        config["httpOptions"] = {"extraBody": dict(thinking)}
    said = alternating(request.messages, options.gap, options.filler)
    return {
        "model": request.model,
        "contents": list(_contents(said, request, options, name, unsigned)),
        "config": config,
    }


def _contents(
    said: list[Message], request: Request, options: Options, name: str, unsigned: str | None
) -> Iterator[Json]:
    for role, blocks in turns(said):
        parts = [part for block in blocks for part in _parts(block, request, name, unsigned)]
        yield {"role": "model" if role == "assistant" else "user", "parts": parts or [{"text": options.filler}]}


def _parts(block: Block, request: Request, name: str, unsigned: str | None) -> Iterator[Json]:
    if isinstance(block, Thinking):
        if goes_back(block, request, name):
            yield dict(block.raw)
    elif isinstance(block, Text):
        if block.text:
            yield {"text": block.text}
    elif isinstance(block, Image):
        yield _image(block)
    elif isinstance(block, Call):
        part: Json = {"functionCall": {"id": block.id, "name": block.name, "args": dict(block.arguments)}}
        signature = block.provider_data.get(SIGNATURE)
        if not signature or not same_model(block.provider_data.get(MODEL), request):
            signature = unsigned
        if signature:
            part[SIGNATURE] = signature
        yield part
    else:
        yield from _result(block)


def _result(result: Result) -> Iterator[Json]:
    texts = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    response = {"error" if result.error or result.cancelled else "output": texts}
    yield {"functionResponse": {"id": result.call_id, "name": result.name, "response": response}}
    for part in result.parts:
        if isinstance(part, Image):
            yield _image(part)


def _image(image: Image) -> Json:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
