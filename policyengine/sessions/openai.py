"""OpenAI message lists: chat-completions messages or Responses items, as a JSON document or as JSONL.

A list holds no turns and no rounds of its own. A user message starts a turn; several in a row are one prompt.
What the model said between two sends is one response, also where it stands in several messages or items,
unless a second usage report or message id shows that it was two.
"""

from __future__ import annotations

from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_count,
    as_dict,
    as_list,
    as_str,
    json_part,
    reported,
    text_part,
    time_ms,
)
from policyengine.sessions.items import MODEL_ITEMS, OUTPUT_ITEMS, content_parts, take_item, take_output
from policyengine.sessions.model import Session, Usage


class OpenAIReader:
    """Reads the messages of one list."""

    def __init__(self, path: str) -> None:
        self.builder = Builder(path, "openai", "openai")
        self._model: str | None = None
        self._draft: RoundDraft | None = None
        self._id: str | None = None

    def header(self, fields: Json) -> None:
        """Take what stands around the messages: the model, instructions and tool definitions."""
        self._model = as_str(fields.get("model"))
        instructions = as_str(fields.get("instructions"))
        if instructions:
            self.builder.add([text_part(instructions)])
        self.builder.add(json_part(tool) for tool in as_list(fields.get("tools")))

    def again(self) -> None:
        """Give nothing: one reading is enough."""

    def record(self, message: Json) -> str | None:
        """Take one message or item; give the reason if it is no part of the session."""
        role, kind = as_str(message.get("role")), as_str(message.get("type"))
        if role is None and kind in OUTPUT_ITEMS:
            self._sent(message)
            take_output(self.builder, message)
        elif role is None and kind in MODEL_ITEMS and kind != "message":
            take_item(self.builder, self._response(message), message)
        elif role == "assistant":
            self._assistant(message)
        elif role in ("tool", "function"):
            self._sent(message)
            call_id = as_str(message.get("tool_call_id"))
            if call_id is None:
                call_id = self.builder.open_call_named(as_str(message.get("name")) or "")
            self.builder.result(call_id, content_parts(message.get("content"), "tool_result", call_id))
        elif role in ("system", "developer"):
            self._sent(message)
            self.builder.add(content_parts(message.get("content")))
        elif role == "user":
            self._sent(message)
            parts = list(content_parts(message.get("content")))
            self.builder.add(parts)
            self.builder.turn(
                "\n".join(part.text for part in parts if part.kind == "text" and part.text).strip(),
                redacted=any(part.redacted for part in parts),
                join=True,
            )
        else:
            return "unknown type"
        return None

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        return self.builder.done(skipped, lines)

    def _sent(self, message: Json) -> None:
        self._draft = None
        self.builder.time(time_ms(message.get("timestamp")))

    def _assistant(self, message: Json) -> None:
        draft = self._response(message)
        thinking = as_str(message.get("reasoning_content")) or as_str(message.get("reasoning"))
        if thinking:
            draft.output.append(text_part(thinking, "thinking"))
        draft.output.extend(part for part in content_parts(message.get("content")) if part.bytes)
        calls = [as_dict(call) for call in as_list(message.get("tool_calls"))]
        if isinstance(message.get("function_call"), dict):
            calls.append({"function": message["function_call"]})
        for call in calls:
            detail = as_dict(call.get("function")) or as_dict(call.get("custom"))
            arguments = detail.get("arguments", detail.get("input"))
            self.builder.called(draft, as_str(call.get("id")), as_str(detail.get("name")) or "", arguments)

    def _response(self, message: Json) -> RoundDraft:
        usage = read_usage(message.get("usage"))
        identity = as_str(message.get("id")) if message.get("role") == "assistant" else None
        draft = self._draft
        if draft is not None and (
            (usage is not None and draft.usage is not None) or (identity and self._id and identity != self._id)
        ):
            draft = None
        if draft is None:
            draft = self._draft = self.builder.respond()
            draft.model = self._model
            self._id = None
        self._id = identity or self._id
        draft.usage = usage or draft.usage
        draft.model = as_str(message.get("model")) or draft.model
        draft.stop_reason = as_str(message.get("finish_reason")) or draft.stop_reason
        draft.timestamp_ms = time_ms(message.get("timestamp")) or draft.timestamp_ms
        return draft


def read_usage(value: object) -> Usage | None:
    """Read usage under the names of either API."""
    fields = as_dict(value)
    chat = "prompt_tokens" in fields
    details = as_dict(fields.get("prompt_tokens_details" if chat else "input_tokens_details"))
    written = as_dict(fields.get("completion_tokens_details" if chat else "output_tokens_details"))
    return reported(
        Usage(
            input=as_count(fields.get("prompt_tokens" if chat else "input_tokens")),
            cache_read=as_count(details.get("cached_tokens")),
            output=as_count(fields.get("completion_tokens" if chat else "output_tokens")),
            reasoning=as_count(written.get("reasoning_tokens")),
        )
    )
