"""Codex rollouts: JSONL, each line `{timestamp, type, payload}`.

What the model receives and returns stands in `response_item` lines; `event_msg` lines repeat it for the
screen. Two events say what the items do not: `user_message` which of the user messages a person wrote, and
`token_count` where a response ends. Token counts come twice a response (once at its end, once more at the
start of the next with the new rate limits), so only a count that differs from the last one ends a response.
"""

from __future__ import annotations

from typing import Final

from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_count,
    as_dict,
    as_list,
    as_str,
    json_part,
    redacted_length,
    reported,
    text_part,
    time_ms,
)
from policyengine.sessions.items import (
    ITEMS,
    MODEL_ITEMS,
    OUTPUT_ITEMS,
    content_parts,
    take_item,
    take_output,
)
from policyengine.sessions.model import Part, Session, TurnKind, Usage

# Texts of the user role that Codex itself puts in front of a prompt.
_INJECTED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<skill>",
    "<INSTRUCTIONS>",
    "<subagent_notification>",
    "# AGENTS.md instructions",
)


class CodexReader:
    """Reads the lines of one rollout."""

    def __init__(self, path: str) -> None:
        self.builder = Builder(path, "codex", "openai")
        self._kind: TurnKind = "interactive"
        self._model: str | None = None
        self._draft: RoundDraft | None = None
        self._candidate: str | None = None  # a user message that no event has claimed yet
        self._counted: object = None
        self._counts_seen = False
        self._output_after_items = False
        self._in_task = False  # between task_started and task_complete, and the prompt has been seen
        self._task_prompted = False
        self._instructed = False

    def header(self, fields: Json) -> None:
        """Take nothing: the first line is `session_meta`."""

    def again(self) -> None:
        """Give nothing: one reading is enough."""

    def record(self, line: Json) -> str | None:
        """Take one line; give the reason if it is no part of the session."""
        moment = time_ms(line.get("timestamp"))
        kind, payload = as_str(line.get("type")), as_dict(line.get("payload"))
        if "payload" not in line:
            # The first versions wrote the items bare, after a line with the session's id.
            if kind in ITEMS:
                return self._item(line, moment)
            if "instructions" in line:
                return self._meta({"base_instructions": line.get("instructions")})
            return "unknown type"
        if kind == "response_item":
            return self._item(payload, moment)
        if kind == "event_msg":
            return self._event(payload, moment)
        if kind == "session_meta":
            return self._meta(payload)
        if kind == "turn_context":
            self._model = as_str(payload.get("model")) or self._model
            self._close()
            return None
        if kind == "compacted":
            return self._compacted(payload)
        return "unknown type"

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        self._claim()
        return self.builder.done(skipped, lines)

    def _meta(self, payload: Json) -> str | None:
        if self._instructed:
            return "repeated session_meta"  # a fork carries that of its origin too
        self._instructed = True
        if "subagent" in as_dict(payload.get("source")):
            self._kind = "subagent"
        instructions = payload.get("base_instructions")
        text = as_str(instructions) or as_str(as_dict(instructions).get("text"))
        if text:
            self.builder.add([text_part(text)])
        return None

    def _event(self, payload: Json, moment: int | None) -> str | None:
        kind = as_str(payload.get("type"))
        if kind == "token_count":
            return self._count(as_dict(payload.get("info")), moment)
        if kind == "user_message":
            return self._user_message(as_str(payload.get("message")) or "")
        if kind in ("task_started", "turn_started"):
            self._window(payload.get("model_context_window"))
            self._in_task, self._task_prompted = True, False
            return None
        if kind in ("task_complete", "turn_complete", "turn_aborted"):
            if kind == "turn_aborted":
                self.builder.noted["interruption"] += 1
            self._in_task = False
            self._close()
            return None
        return "event repeated as an item" if kind in _REPEATED else "event"

    def _user_message(self, text: str) -> str | None:
        self._candidate = None
        if self._in_task and self._task_prompted:
            self.builder.noted["message typed while tools ran"] += 1
            return None
        self._close()
        self._task_prompted = True
        redacted = redacted_length(text) is not None
        self.builder.turn("" if redacted else text.strip(), redacted=redacted, kind=self._kind)
        return None

    def _count(self, info: Json, moment: int | None) -> str | None:
        self._window(info.get("model_context_window"))
        last = as_dict(info.get("last_token_usage"))
        if not last:
            return "token_count without counts"
        counts = (info.get("total_token_usage"), last)
        if counts == self._counted:
            return "repeated token_count"
        self._counted = counts
        self._counts_seen = True
        if self._draft is None:
            return "token_count of no response"  # of a compaction's own call, or a recount after one
        self._draft.usage = reported(
            Usage(
                input=as_count(last.get("input_tokens")),
                cache_read=as_count(last.get("cached_input_tokens")),
                output=as_count(last.get("output_tokens")),
                reasoning=as_count(last.get("reasoning_output_tokens")),
            )
        )
        self._draft.timestamp_ms = moment or self._draft.timestamp_ms
        self._close()
        return None

    def _item(self, item: Json, moment: int | None) -> str | None:
        kind = as_str(item.get("type"))
        if kind == "message" and item.get("role") != "assistant":
            self.builder.time(moment)
            parts = list(content_parts(item.get("content")))
            self.builder.add(parts)
            if item.get("role") == "user":
                self._user_item(parts)
            return None
        if kind in OUTPUT_ITEMS:
            self.builder.time(moment)
            self._output_after_items = self._draft is not None
            take_output(self.builder, item)
            return None
        if kind not in MODEL_ITEMS:
            return "unknown item"
        draft = self._response()
        draft.timestamp_ms = moment or draft.timestamp_ms
        take_item(self.builder, draft, item)
        return None

    def _user_item(self, parts: list[Part]) -> None:
        texts = [part.text for part in parts if part.text]
        injected = bool(texts) and all(text.lstrip().startswith(_INJECTED) for text in texts)
        if not injected:
            self._candidate = "\n".join(text.strip() for text in texts if not text.lstrip().startswith(_INJECTED))

    def _claim(self) -> None:
        """Take an unclaimed user message for the prompt: the rollout has no events."""
        if self._candidate is not None:
            self.builder.turn(self._candidate, redacted=not self._candidate, kind=self._kind)
            self._candidate = None

    def _response(self) -> RoundDraft:
        if self._draft is not None and (
            self._candidate is not None or (self._output_after_items and not self._counts_seen)
        ):
            # Without counts, what follows a tool output or a prompt is the next response.
            self._close()
        if self._draft is None:
            self._claim()
            self._draft = self.builder.respond(self._kind)
            self._draft.model = self._model
            self._output_after_items = False
        return self._draft

    def _close(self) -> None:
        self._draft = None

    def _window(self, value: object) -> None:
        window = as_count(value)
        if window and self.builder.window is None:
            self.builder.window = window

    def _compacted(self, payload: Json) -> str | None:
        """Take a compaction. One within a prompted task was automatic; otherwise the file does not say."""
        self._close()
        summary: list[Part] = []
        for item in [as_dict(item) for item in as_list(payload.get("replacement_history"))]:
            is_message = item.get("type") == "message"
            summary.extend(content_parts(item.get("content")) if is_message else [json_part(item)])
        message = as_str(payload.get("message"))
        if message and not summary:
            summary.append(text_part(message))
        self.builder.compaction("auto" if self._in_task and self._task_prompted else None, None, summary)
        return None


_REPEATED: Final = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "context_compacted",
        "exec_command_begin",
        "exec_command_end",
        "patch_apply_begin",
        "patch_apply_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "web_search_begin",
        "web_search_end",
        "item_completed",
    }
)
