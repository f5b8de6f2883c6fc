"""The turn model: what every transcript format is read into.

A session is a list of rounds. A round is one model call and its one response, however many lines the file
spends on it. A round says what was *added* to the history since the response before it (that is what its
send carried anew) and what the response brought. A turn is one message that starts work, typed by a person
or injected by the product (a notification, a scheduled prompt), and all rounds up to the next one. A message
typed while the tools of a turn run joins that turn; it starts none.

Rounds stand in the order of the file. Where a person went back and edited a prompt, the rounds of the
abandoned branch stay: those calls were made.

Everything here is as the file reports it. Unknown is `None`, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Format: TypeAlias = Literal["claude-code", "codex", "openai", "anthropic", "gemini", "qwen-code"]
Provider: TypeAlias = Literal["anthropic", "openai", "gemini", "qwen"]
TurnKind: TypeAlias = Literal["interactive", "notification", "subagent", "cron"]
PartKind: TypeAlias = Literal["text", "json", "tool_call", "tool_result", "image", "document", "thinking"]
Trigger: TypeAlias = Literal["auto", "manual"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of content in the history.

    `bytes` is the UTF-8 size of what the model receives; for a redacted text the size of the original as far
    as the file tells it; for an `image` or `document` the size of the payload as it stands in the file; for
    `thinking` the size of its readable text, which may be much less than what the model thought. `text` is
    None where it is redacted or where the part is no text. `call_id` pairs a tool call and its result.
    """

    kind: PartKind
    text: str | None
    bytes: int
    call_id: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call came back with.

    `bytes` is the UTF-8 size of its text parts. `error` comes from the format's own error field only; it is
    None where the format has none or leaves it open, and words in the output are never looked at.
    `cancelled` is true where the file records that the person stopped or refused the call.
    """

    parts: tuple[Part, ...]
    bytes: int
    error: bool | None = None
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A tool's own word on one of its calls: what the call does, whether it comes from an MCP server, what it declares
    of its result, and the model it wants for the rest of the turn."""

    kind: str
    mcp: bool = False
    skip_llm_round: bool = False
    result_is_terminal: bool = False
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a response. All calls of a round are one batch, in the order of the response.

    `arguments` is the parsed mapping, or the raw string where it is not a JSON object. `fingerprint` is a
    stable hash of the arguments that does not depend on key order. `result` is None where the file has none.
    `said` is what the tool itself says of the call, None where the file does not tell: only the recordings of our
    own runtime do.
    """

    id: str
    name: str
    arguments: Mapping[str, object] | str
    fingerprint: str
    result: ToolResult | None = None
    said: Said | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them, in its own sense; None where it did not report the field.

    | provider  | `input`                      | `cache_read`   | `cache_write`     | `output`             |
    |-----------|------------------------------|----------------|-------------------|----------------------|
    | anthropic | prompt less both cache parts | beside `input` | beside `input`    | includes thinking    |
    | openai    | whole prompt                 | inside `input` | not reported      | includes `reasoning` |
    | gemini    | whole prompt                 | inside `input` | not reported      | less `reasoning`     |
    | qwen      | whole prompt                 | inside `input` | inside, if at all | includes `reasoning` |

    A report in which every count of the prompt is 0 is no report (no prompt is empty): it reads as None.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One model call and its response.

    `index` and `turn` are 1-based over the session; `context` is 0-based and grows by one after each
    recorded compaction. `added` is what the send carried that the history did not hold when the response
    before it ended (user text, tool results, attachments; after a compaction the summary), in order.
    `output` is the response. `is_continuation` is true where the send answers tool results within the same
    turn. `stop_reason` is raw. `timestamp_ms` is the Unix time (ms) at which the response was last recorded;
    `duration_ms` is the time (ms) up to that from the last thing recorded before the response, so it holds
    queueing and streaming. Both are None where the file has no times. `window` is the context window (tokens) that the
    file states for this round.
    """

    index: int
    turn: int
    context: int
    model: str | None
    usage: Usage | None
    added: tuple[Part, ...]
    output: tuple[Part, ...]
    calls: tuple[ToolCall, ...]
    is_continuation: bool
    stop_reason: str | None = None
    timestamp_ms: int | None = None
    duration_ms: int | None = None
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message that starts work.

    `index` is 1-based. `prompt` is what the person wrote, without what the product wrapped around it; it is
    empty where it is redacted (`prompt_redacted`), holds no text, or where the file begins in mid-turn.
    `first_round` is the 1-based index of the turn's first round, None where no response followed. `model` is the
    model that the person chose for this turn, where the file says so.
    """

    index: int
    prompt: str
    prompt_redacted: bool = False
    kind: TurnKind = "interactive"
    first_round: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """A compaction that the file records.

    `round` is the 1-based index of the round whose send it preceded (one past the last round where none
    followed). `trigger` is None where the file does not say. `tokens` is the prompt size before it as the
    file reports it, None where it does not. `context` is the index of the context that it ended. `pending`
    is what waited to be sent when it happened; that round's `added` holds what was sent after it, which
    repeats `pending` only where the product did not summarise it. The estimate that led to the compaction is
    the usage before it plus `pending`.
    """

    round: int
    trigger: Trigger | None
    tokens: int | None
    context: int
    pending: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """One transcript.

    `provider` says whose usage contract the counts follow, None where that is unknown. `model` is that of
    the first round that names one. `window` is the context window (tokens) where the file states it, and
    `window_origin` is then "session". `unsent` is what stands after the last response. `cleared` are the 1-based
    indexes of the rounds before whose send the person cleared the conversation, where the file says so.

    `lines` counts the lines of the file (the messages, where it is one JSON document). `skipped` counts those
    that are no part of the model, by reason; all others were used. `noted` counts what was used in a way
    worth knowing (injected messages, interruptions, results without a call), by reason.
    """

    path: str
    format: Format
    provider: Provider | None
    model: str | None
    window: int | None
    window_origin: Literal["session"] | None
    rounds: tuple[Round, ...]
    turns: tuple[Turn, ...]
    recorded_compactions: tuple[RecordedCompaction, ...] = ()
    unsent: tuple[Part, ...] = ()
    cleared: tuple[int, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    noted: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0
