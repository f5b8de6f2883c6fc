"""Messages as JSON, whole, and back: the form in which sessions are saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyengine.runtime.history import HistoryError
from policyengine.runtime.messages import Block, Call, Image, Message, Result, Text, Thinking


def as_json(message: Message) -> dict[str, Any]:
    """A message as JSON, whole: what `from_json` reads back."""
    return {
        "role": message.role,
        "blocks": [_block_json(block) for block in message.blocks],
        **({"prompt_id": message.prompt_id} if message.prompt_id is not None else {}),
        **({"summary": True} if message.summary else {}),
    }


def _block_json(block: Block) -> dict[str, Any]:
    match block:
        case Text(text):
            return {"text": text}
        case Image(media_type, data):
            return {"image": data, "media_type": media_type}
        case Thinking(model, provider, raw, text):
            return {"thinking": dict(raw), "model": model, "provider": provider, "shown": text}
        case Call(call_id, name, arguments, raw_arguments, data):
            return {
                "call": call_id,
                "name": name,
                "arguments": dict(arguments),
                **({"raw_arguments": raw_arguments} if raw_arguments is not None else {}),
                **({"provider_data": dict(data)} if data else {}),
            }
        case Result(call_id, name, parts, error, cancelled):
            return {
                "result": call_id,
                "name": name,
                "parts": [_block_json(part) for part in parts],
                "error": error,
                "cancelled": cancelled,
            }


def from_json(value: Mapping[str, Any]) -> Message:
    """A message out of what `as_json` made. Raises `HistoryError` where it is none."""
    try:
        blocks = tuple(_block_of(block) for block in value["blocks"])
        role = value["role"]
        if role not in ("user", "assistant", "tool"):
            raise ValueError(role)
        return Message(role, blocks, value.get("prompt_id"), bool(value.get("summary")))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise HistoryError("a message of the saved session cannot be read") from None


def _block_of(value: Mapping[str, Any]) -> Block:
    if "text" in value:
        return Text(str(value["text"]))
    if "image" in value:
        return Image(str(value["media_type"]), str(value["image"]))
    if "thinking" in value:
        return Thinking(value["model"], value["provider"], dict(value["thinking"]), value.get("shown", ""))
    if "call" in value:
        data = value.get("provider_data", {})
        return Call(value["call"], value["name"], dict(value["arguments"]), value.get("raw_arguments"), dict(data))
    parts = tuple(_block_of(part) for part in value["parts"])
    kept = tuple(part for part in parts if isinstance(part, Text | Image))
    return Result(value["result"], value["name"], kept, bool(value["error"]), bool(value["cancelled"]))
