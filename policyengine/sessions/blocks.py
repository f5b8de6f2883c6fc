"""Anthropic content blocks, as message arrays and Claude Code's transcripts carry them."""

from __future__ import annotations

from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_bool,
    as_count,
    as_dict,
    as_list,
    as_str,
    json_part,
    media_part,
    reported,
    text_part,
)
from policyengine.sessions.model import Part, Usage


def as_blocks(content: object) -> list[Json]:
    """Give content as blocks; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [
        block if isinstance(block, dict) else {"type": "text", "text": block}
        for block in as_list(content)
        if isinstance(block, (dict, str))
    ]


def user_part(block: Json, call_id: str | None = None) -> Part:
    """Make a part of a block that the model receives; within a tool result, `call_id` is its call's."""
    kind = as_str(block.get("type"))
    if kind == "text":
        return text_part(as_str(block.get("text")) or "", "tool_result" if call_id else "text", call_id)
    if kind == "image":
        return media_part("image", as_dict(block.get("source")).get("data") or block.get("source"), call_id)
    if kind == "document":
        return media_part("document", as_dict(block.get("source")).get("data") or block.get("source"), call_id)
    return json_part(block, call_id)


def take_result(builder: Builder, block: Json, *, cancelled: bool = False) -> None:
    """Take a `tool_result` block. The format's `is_error` defaults to false, so absent means no error."""
    call_id = as_str(block.get("tool_use_id"))
    error = as_bool(block.get("is_error"))
    parts = [user_part(inner, call_id or "") for inner in as_blocks(block.get("content"))]
    builder.result(call_id, parts, error=bool(error), cancelled=cancelled)


def take_output(builder: Builder, draft: RoundDraft, block: Json) -> None:
    """Take a block of a response. Tools that the provider runs itself are content, not calls of the batch."""
    kind = as_str(block.get("type"))
    if kind == "text":
        draft.output.append(text_part(as_str(block.get("text")) or ""))
    elif kind == "thinking":
        draft.output.append(text_part(as_str(block.get("thinking")) or "", "thinking"))
    elif kind == "redacted_thinking":
        draft.output.append(Part("thinking", None, 0, redacted=True))
    elif kind == "tool_use":
        call_id = as_str(block.get("id"))
        if call_id is None or call_id not in draft.ids:
            builder.called(draft, call_id, as_str(block.get("name")) or "", block.get("input"))
    else:
        draft.output.append(json_part(block))


def read_usage(value: object, before: Usage | None = None) -> Usage | None:
    """Read Anthropic usage. Lines of one response repeat it while its output grows: the largest counts."""
    fields = as_dict(value)
    if not fields:
        return before
    usage = Usage(
        input=as_count(fields.get("input_tokens")),
        cache_read=as_count(fields.get("cache_read_input_tokens")),
        cache_write=as_count(fields.get("cache_creation_input_tokens")),
        output=as_count(fields.get("output_tokens")),
    )
    if before is None:
        return reported(usage)

    def latest(old: int | None, new: int | None) -> int | None:
        return old if new is None else new

    outputs = [count for count in (before.output, usage.output) if count is not None]
    prompt = usage if any((usage.input, usage.cache_read, usage.cache_write)) else before
    return Usage(
        input=latest(before.input, prompt.input),
        cache_read=latest(before.cache_read, prompt.cache_read),
        cache_write=latest(before.cache_write, prompt.cache_write),
        output=max(outputs, default=None),
    )
