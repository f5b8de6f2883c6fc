"""Tells a transcript's format from its content; the file's name is never looked at."""

from __future__ import annotations

from typing import Final

from policyengine.sessions.content import Json, as_dict, as_list, as_str
from policyengine.sessions.model import Format

_CODEX_TYPES: Final = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_CHAT_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_RESPONSES_ITEMS: Final = frozenset(
    {"function_call", "function_call_output", "reasoning", "custom_tool_call", "custom_tool_call_output"}
)
_ANTHROPIC_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})
_OPENAI_BLOCKS: Final = frozenset({"image_url", "input_text", "output_text", "input_image", "input_audio"})


def line_format(line: Json) -> Format | None:
    """Format that a JSONL line can only belong to; None where it could be of several, or of none."""
    kind = as_str(line.get("type"))
    if kind in _CODEX_TYPES and isinstance(line.get("payload"), dict):
        return "codex"
    if "instructions" in line and "timestamp" in line and "id" in line and kind is None:
        return "codex"
    if isinstance(kind, str) and ("sessionId" in line or "uuid" in line):
        message = as_dict(line.get("message"))
        if "parts" in message or "systemPayload" in line or kind == "tool_result":
            return "qwen-code"
        if "content" in message or kind not in ("user", "assistant", "system"):
            return "claude-code"
        if kind == "system" and ("content" in line or "isMeta" in line or "isSidechain" in line):
            return "claude-code"
        return None
    if kind == "file-history-snapshot" or (kind == "summary" and "leafUuid" in line):
        return "claude-code"
    return message_format(line)


def message_format(message: Json) -> Format | None:
    """Format that one message of an array can only belong to; None where it could be of several."""
    role = as_str(message.get("role"))
    if isinstance(message.get("parts"), list) and role in ("user", "model", "function", "system", None):
        return "gemini"
    if as_str(message.get("type")) in _RESPONSES_ITEMS and role is None:
        return "openai"
    if role in ("system", "developer", "tool", "function") or "tool_calls" in message:
        return "openai" if "content" in message or "tool_calls" in message else None
    if role not in ("user", "assistant"):
        return None
    kinds = {as_str(as_dict(block).get("type")) for block in as_list(message.get("content"))}
    if kinds & _ANTHROPIC_BLOCKS:
        return "anthropic"
    if kinds & _OPENAI_BLOCKS:
        return "openai"
    usage = as_dict(message.get("usage"))
    if "input_tokens" in usage and message.get("type") == "message" and "stop_reason" in message:
        return "anthropic"
    return "openai" if "prompt_tokens" in usage else None


def is_plain_message(message: Json) -> bool:
    """Whether it is a message that several formats share: a role and a content."""
    return as_str(message.get("role")) in _CHAT_ROLES and "content" in message


def document_format(fields: Json, messages: list[object]) -> Format | None:
    """Format of a JSON document with these fields and messages; None where it is none we read.

    Messages that only have texts are the same in two formats; they are read as the chat format unless the
    fields around them say otherwise.
    """
    objects = [message for message in messages if isinstance(message, dict)]
    for message in objects:
        found = message_format(message)
        if found is not None:
            return found
    if "systemInstruction" in fields or "system_instruction" in fields:
        return "gemini"
    plain = any(is_plain_message(message) for message in objects)
    if not plain:
        return None
    model = fields.get("model")
    if "system" in fields or (isinstance(model, str) and model.startswith("claude")):
        return "anthropic"
    return "openai"
