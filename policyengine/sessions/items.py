"""Items of OpenAI's Responses API, as Codex rollouts and item lists carry them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from policyengine.sessions.build import Builder, RoundDraft
from policyengine.sessions.content import (
    Json,
    as_bool,
    as_dict,
    as_list,
    as_str,
    json_part,
    media_part,
    text_part,
)
from policyengine.sessions.model import Part, PartKind

OUTPUT_ITEMS: Final = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "mcp_tool_call_output",
        "tool_search_output",
    }
)
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
# Run by the provider within the response: content of the response, not calls of the batch.
_HOSTED: Final = frozenset(
    {"web_search_call", "image_generation_call", "file_search_call", "code_interpreter_call", "mcp_call"}
)
MODEL_ITEMS: Final = frozenset({"message", "reasoning", *_CALLS, *_HOSTED})
ITEMS: Final = MODEL_ITEMS | OUTPUT_ITEMS


def content_parts(content: object, kind: PartKind = "text", call_id: str | None = None) -> Iterator[Part]:
    """Parts of a message's or an output's content, which is a string or a list of content items."""
    if isinstance(content, str):
        yield text_part(content, kind, call_id)
    for item in as_list(content):
        fields = as_dict(item)
        text = fields.get("text", fields.get("refusal"))
        if isinstance(item, str):
            yield text_part(item, kind, call_id)
        elif isinstance(text, str):
            yield text_part(text, kind, call_id)
        elif fields.get("type") in ("input_image", "image_url", "image"):
            yield media_part("image", fields.get("image_url", fields), call_id)
        elif fields.get("type") in ("input_file", "file"):
            yield media_part("document", fields.get("file_data", fields), call_id)
        elif fields:
            yield json_part(fields, call_id)


def take_item(builder: Builder, draft: RoundDraft, item: Json) -> None:
    """Take one item of a response."""
    kind = as_str(item.get("type"))
    if kind == "message":
        draft.output.extend(content_parts(item.get("content")))
    elif kind == "reasoning":
        pieces = [as_dict(piece) for key in ("summary", "content") for piece in as_list(item.get(key))]
        text = "\n".join(str(piece["text"]) for piece in pieces if as_str(piece.get("text")))
        draft.output.append(text_part(text, "thinking"))
    elif kind in _HOSTED:
        draft.output.append(json_part(item))
    else:
        name = as_str(item.get("name")) or str(kind).removesuffix("_call")
        arguments = item.get("arguments", item.get("input", item.get("action")))
        builder.called(draft, as_str(item.get("call_id")) or as_str(item.get("id")), name, arguments)


def take_output(builder: Builder, item: Json) -> None:
    """Take the output of a call. Only an output that is an object with `success` says whether it failed."""
    call_id = as_str(item.get("call_id")) or as_str(item.get("id"))
    output = item.get("output", item.get("result", item.get("tools")))
    success: bool | None = None
    if isinstance(output, dict):
        success = as_bool(output.get("success"))
        output = output.get("content", [output])
    builder.result(
        call_id,
        content_parts(output, "tool_result", call_id),
        error=None if success is None else not success,
    )
