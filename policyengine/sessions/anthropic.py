"""Anthropic message lists, as a JSON document or as JSONL.

A user message starts a turn unless it brings tool results; text beside those joins the running turn. Messages
of the assistant in a row are one response unless message ids or usage reports show that they were several.
"""

from __future__ import annotations

from typing import Final

from policyengine.sessions.blocks import as_blocks, read_usage, take_output, take_result, user_part
from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import Json, as_dict, as_list, as_str, json_part, time_ms, without_elements
from policyengine.sessions.model import Session

_INJECTED: Final = ("system-reminder",)


class AnthropicReader:
    """Reads the messages of one list."""

    def __init__(self, path: str) -> None:
        self.builder = Builder(path, "anthropic", "anthropic")
        self._model: str | None = None
        self._draft: RoundDraft | None = None
        self._id: str | None = None

    def header(self, fields: Json) -> None:
        """Take what stands around the messages: the model, the system text and tool definitions."""
        self._model = as_str(fields.get("model"))
        self.builder.add(user_part(block) for block in as_blocks(fields.get("system")))
        self.builder.add(json_part(tool) for tool in as_list(fields.get("tools")))

    def again(self) -> None:
        """Give nothing: one reading is enough."""

    def record(self, message: Json) -> str | None:
        """Take one message; give the reason if it is no part of the session."""
        role = as_str(message.get("role"))
        if role == "assistant":
            draft = self._response(message)
            for block in as_blocks(message.get("content")):
                take_output(self.builder, draft, block)
            return None
        self._draft = None
        self.builder.time(time_ms(message.get("timestamp")))
        blocks = as_blocks(message.get("content"))
        if role == "system":
            self.builder.add(user_part(block) for block in blocks)
        elif role == "user":
            self._user(blocks)
        else:
            return "unknown type"
        return None

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        return self.builder.done(skipped, lines)

    def _user(self, blocks: list[Json]) -> None:
        results = False
        for block in blocks:
            if block.get("type") == "tool_result":
                results = True
                take_result(self.builder, block)
            else:
                self.builder.add([user_part(block)])
        if not results:
            text = "\n".join(str(block["text"]) for block in blocks if as_str(block.get("text")))
            self.builder.turn(without_elements(text, _INJECTED).strip(), join=True)

    def _response(self, message: Json) -> RoundDraft:
        identity = as_str(message.get("id"))
        draft = self._draft
        if draft is not None and (
            (identity and self._id and identity != self._id)
            or (not identity and draft.usage is not None and as_dict(message.get("usage")))
        ):
            draft = None
        if draft is None:
            draft = self._draft = self.builder.respond()
            draft.model = self._model
            self._id = None
        self._id = identity or self._id
        draft.usage = read_usage(message.get("usage"), draft.usage)
        draft.model = as_str(message.get("model")) or draft.model
        draft.stop_reason = as_str(message.get("stop_reason")) or draft.stop_reason
        draft.timestamp_ms = time_ms(message.get("timestamp")) or draft.timestamp_ms
        return draft
