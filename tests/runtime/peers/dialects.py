"""How each provider writes: events as bytes, and a short recorded stream with everything a good answer has.

Written from the providers' public references, not with their SDKs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SAID = "Héllo 世界 🙂"
"""The text of every recorded stream: characters of 1 to 4 bytes."""
ARGUMENTS = {"path": "docs/é.md"}


def sse(data: Any, event: str | None = None) -> bytes:
    """One event. A string is sent as it stands."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


@dataclass(frozen=True)
class Dialect:
    """One API of one provider.

    `recorded` is a whole short stream, an event a piece. `text_event` writes an event with a text. `ended` and
    `usage` are the events that end a stream and report usage, so that a test can leave them out.
    """

    name: str
    recorded: Sequence[bytes]
    opening: Sequence[bytes]
    text_event: Callable[[str], bytes]
    ending: Sequence[bytes]
    error_event: Callable[[str], bytes]
    error_body: Callable[[int, str, str], Any]
    overflow: tuple[int, Any]
    calls: Callable[[Sequence[tuple[str, str, Sequence[str]]]], Sequence[bytes]]

    @property
    def whole(self) -> bytes:
        """The recorded stream in one piece."""
        return b"".join(self.recorded)


# OpenAI Chat Completions, and DashScope's way of writing it.


def chat_chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> bytes:
    """A chunk; without a delta one without choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return sse({**chunk, **fields})


CHAT_DONE = b"data: [DONE]\n\n"
CHAT_USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 75},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def chat_piece(index: int, call_id: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    """A delta with a piece of a call; None leaves a field out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece: dict[str, Any] = {"index": index, "function": function}
    if call_id is not None:
        piece |= {"id": call_id, "type": "function"}
    return {"tool_calls": [piece]}


def chat_calls(calls: Sequence[tuple[str, str, Sequence[str]]]) -> list[bytes]:
    """A whole stream with calls: id, name and the pieces of the arguments of each."""
    events = [chat_chunk({"role": "assistant", "content": None})]
    for index, (call_id, name, pieces) in enumerate(calls):
        events.append(chat_chunk(chat_piece(index, call_id, name, "")))
        events += [chat_chunk(chat_piece(index, None, None, piece)) for piece in pieces]
    return [*events, chat_chunk({}, "tool_calls"), chat_chunk(usage=CHAT_USAGE), CHAT_DONE]


def _chat_recorded() -> list[bytes]:
    half = len(SAID) // 2
    return [
        chat_chunk({"role": "assistant", "content": ""}),
        chat_chunk({"content": SAID[:half]}),
        chat_chunk({"content": SAID[half:]}),
        chat_chunk(chat_piece(0, "call_1", "read_file", "")),
        chat_chunk(chat_piece(0, None, None, '{"pa')),
        chat_chunk(chat_piece(0, None, None, 'th": "docs/é.md"}')),
        chat_chunk({}, "tool_calls"),
        chat_chunk(usage=CHAT_USAGE),
        CHAT_DONE,
    ]


def chat_error(_status: int, code: str, message: str) -> Any:
    """An error body."""
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


OPENAI = Dialect(
    "openai",
    _chat_recorded(),
    [chat_chunk({"role": "assistant", "content": ""})],
    lambda text: chat_chunk({"content": text}),
    [chat_chunk({}, "stop"), chat_chunk(usage=CHAT_USAGE), CHAT_DONE],
    lambda message: sse(chat_error(500, "server_error", message)),
    chat_error,
    (400, chat_error(400, "context_length_exceeded", "too long: the prompt said hunter2")),
    chat_calls,
)


def dashscope_calls(calls: Sequence[tuple[str, str, Sequence[str]]]) -> list[bytes]:
    """DashScope repeats an empty id and name in later pieces."""
    events = [chat_chunk({"role": "assistant", "content": None, "reasoning_content": "hm"})]
    for index, (call_id, name, pieces) in enumerate(calls):
        first, *rest = pieces or [""]
        events.append(chat_chunk(chat_piece(index, call_id, name, first)))
        events += [chat_chunk(chat_piece(index, "", "", piece)) for piece in rest]
    return [*events, chat_chunk({"content": ""}, "tool_calls"), chat_chunk(usage=CHAT_USAGE), CHAT_DONE]


QWEN = Dialect(
    "qwen",
    [
        chat_chunk({"role": "assistant", "content": None, "reasoning_content": "Thinking …"}),
        chat_chunk({"content": SAID, "reasoning_content": None}),
        chat_chunk(chat_piece(0, "call_1", "read_file", '{"pa')),
        chat_chunk(chat_piece(0, "", "", 'th": "docs/é.md"}')),
        chat_chunk({"content": ""}, "tool_calls"),
        chat_chunk(usage=CHAT_USAGE),
        CHAT_DONE,
    ],
    [chat_chunk({"role": "assistant", "content": None, "reasoning_content": ""})],
    lambda text: chat_chunk({"content": text}),
    [chat_chunk({"content": ""}, "stop"), chat_chunk(usage=CHAT_USAGE), CHAT_DONE],
    lambda message: sse(chat_error(500, "internal_error", message)),
    chat_error,
    (400, chat_error(400, "invalid_parameter_error", "Range of input length should be [1, 129024]: hunter2")),
    dashscope_calls,
)


# OpenAI Responses.


def responses_event(kind: str, **fields: Any) -> bytes:
    """An event with its type in both places."""
    return sse({"type": kind, "sequence_number": 0, **fields}, kind)


RESPONSES_USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 75},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}


def responses_end(status: str = "completed", **fields: Any) -> bytes:
    """The end event."""
    response = {"id": "resp_1", "object": "response", "status": status, "output": [], "usage": RESPONSES_USAGE}
    return responses_event(f"response.{status}", response={**response, **fields})


def responses_text(text: str) -> bytes:
    """A piece of text."""
    return responses_event("response.output_text.delta", item_id="msg_1", output_index=1, content_index=0, delta=text)


def responses_calls(calls: Sequence[tuple[str, str, Sequence[str]]]) -> list[bytes]:
    """A whole stream with calls."""
    events = [responses_event("response.created", response={"id": "resp_1", "status": "in_progress"})]
    for index, (call_id, name, pieces) in enumerate(calls):
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": call_id, "name": name, "arguments": ""}
        events.append(responses_event("response.output_item.added", output_index=index, item=item))
        events += [
            responses_event(
                "response.function_call_arguments.delta", item_id=f"fc_{index}", output_index=index, delta=piece
            )
            for piece in pieces
        ]
        done = {**item, "arguments": "".join(pieces), "status": "completed"}
        events.append(responses_event("response.output_item.done", output_index=index, item=done))
    return [*events, responses_end()]


RESPONSES = Dialect(
    "openai-responses",
    [
        responses_event("response.created", response={"id": "resp_1", "status": "in_progress"}),
        responses_text(SAID),
        *responses_calls([("call_1", "read_file", ['{"pa', 'th": "docs/é.md"}'])])[1:],
    ],
    [responses_event("response.created", response={"id": "resp_1", "status": "in_progress"})],
    responses_text,
    [responses_end()],
    lambda message: responses_event("error", code="server_error", message=message, param=None),
    chat_error,
    (400, chat_error(400, "context_length_exceeded", "too long: the prompt said hunter2")),
    responses_calls,
)


# Anthropic Messages.

ANTHROPIC_INPUT = {
    "input_tokens": 7,
    "cache_read_input_tokens": 10_000,
    "cache_creation_input_tokens": 0,
    "output_tokens": 1,
}


def anthropic_event(kind: str, **fields: Any) -> bytes:
    """An event with its type in both places."""
    return sse({"type": kind, **fields}, kind)


def anthropic_start() -> bytes:
    """The first event, with the input's usage and a placeholder for the output's."""
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": ANTHROPIC_INPUT,
    }  # fmt: skip
    return anthropic_event("message_start", message=message)


def anthropic_block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[bytes]:
    """A content block from start to stop."""
    return [
        anthropic_event("content_block_start", index=index, content_block=block),
        *(anthropic_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        anthropic_event("content_block_stop", index=index),
    ]


def anthropic_end(reason: str | None = "end_turn", output: int = 20) -> list[bytes]:
    """The last two events."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        anthropic_event("message_delta", delta=delta, usage={"output_tokens": output}),
        anthropic_event("message_stop"),
    ]


def anthropic_tool(index: int, call_id: str, name: str, pieces: Sequence[str]) -> list[bytes]:
    """A tool call."""
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces))
    return anthropic_block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def anthropic_calls(calls: Sequence[tuple[str, str, Sequence[str]]]) -> list[bytes]:
    """A whole stream with calls."""
    events = [anthropic_start()]
    for index, (call_id, name, pieces) in enumerate(calls):
        events += anthropic_tool(index, call_id, name, pieces)
    return [*events, *anthropic_end("tool_use")]


def anthropic_error(_status: int, code: str, message: str) -> Any:
    """An error body."""
    return {"type": "error", "error": {"type": code, "message": message}, "request_id": "req_1"}


ANTHROPIC = Dialect(
    "anthropic",
    [
        anthropic_start(),
        *anthropic_block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": SAID}),
        anthropic_event("ping"),
        *anthropic_tool(1, "toolu_1", "read_file", ['{"pa', 'th": "docs/é.md"}']),
        *anthropic_end("tool_use"),
    ],
    [
        anthropic_start(),
        anthropic_event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ],
    lambda text: anthropic_event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}),
    [anthropic_event("content_block_stop", index=0), *anthropic_end()],
    lambda message: sse(anthropic_error(529, "overloaded_error", message), "error"),
    anthropic_error,
    (400, anthropic_error(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000: hunter2")),
    anthropic_calls,
)


# Gemini, v1beta with alt=sse.

GEMINI_USAGE = {"promptTokenCount": 100, "cachedContentTokenCount": 75, "totalTokenCount": 100}


def gemini_chunk(*parts: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
    """A chunk of a response."""
    candidate: dict[str, Any] = {"index": 0}
    if parts:
        candidate["content"] = {"parts": list(parts), "role": "model"}
    if finish:
        candidate["finishReason"] = finish
    return sse({"candidates": [candidate], "modelVersion": "m", "responseId": "r1", **fields})


def gemini_usage(output: int, thoughts: int) -> dict[str, int]:
    """Running totals."""
    return GEMINI_USAGE | {
        "candidatesTokenCount": output,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": 100 + output + thoughts,
    }


def gemini_calls(calls: Sequence[tuple[str, str, Sequence[str]]]) -> list[bytes]:
    """A whole stream with calls; this API sends arguments whole."""
    events = [
        gemini_chunk({"functionCall": {"id": call_id, "name": name, "args": json.loads("".join(pieces) or "{}")}})
        for call_id, name, pieces in calls
    ]
    return [*events, gemini_chunk({"text": ""}, finish="STOP", usageMetadata=gemini_usage(20, 5))]


def gemini_error(status: int, code: str, message: str) -> Any:
    """An error body."""
    return {"error": {"code": status, "message": message, "status": code}}


GEMINI_OVERFLOW = "The input token count (9) exceeds the maximum number of tokens allowed (8): hunter2"

GEMINI = Dialect(
    "gemini",
    [
        gemini_chunk({"text": SAID}, usageMetadata=gemini_usage(6, 5)),
        gemini_chunk({"functionCall": {"id": "fc-1", "name": "read_file", "args": ARGUMENTS}}),
        gemini_chunk({"text": ""}, finish="STOP", usageMetadata=gemini_usage(20, 5)),
    ],
    [],
    lambda text: gemini_chunk({"text": text}),
    [gemini_chunk({"text": ""}, finish="STOP", usageMetadata=gemini_usage(20, 5))],
    lambda message: sse(gemini_error(503, "UNAVAILABLE", message)),
    gemini_error,
    (400, gemini_error(400, "INVALID_ARGUMENT", GEMINI_OVERFLOW)),
    gemini_calls,
)

DIALECTS = {dialect.name: dialect for dialect in (OPENAI, RESPONSES, QWEN, ANTHROPIC, GEMINI)}
