"""What a session tells while a turn runs: one small class an event, in the order in which things happen.

No event shows a prompt, an argument or an output in its `repr`: events end up in logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Tier: TypeAlias = Literal["fast", "primary"]
TurnStatus: TypeAlias = Literal["completed", "skipped", "discarded", "failed", "cancelled", "stopped"]
Source: TypeAlias = Literal["usage", "estimated", "unknown"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn begins. `prompt_id` stays the same through every retry and fallback."""

    turn_id: str
    prompt_id: str


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """The size of the next prompt (tokens) and what the ladder says about it. `tip` is the id of the tip to show."""

    tokens: int | None
    tokens_source: str
    tier: str
    window: int | None
    left_until_auto: int | None
    tip: str | None
    tip_text: str | None


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A model round begins: number in the session, from 1."""

    round: int
    model: str
    tier: Tier
    reason: str


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Visible text. A provisional one may be taken back by `TextWithdrawn` with the same `attempt`."""

    text: str = field(repr=False)
    attempt: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """Reasoning text. It is never part of the answer."""

    text: str = field(repr=False)
    attempt: int


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """All text and reasoning of this attempt is taken back: it is no part of the history."""

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one attempt in one sense for all providers (`prompt` holds cache reads and writes), each with its
    own source."""

    prompt: int | None
    output: int | None
    cached: int | None = None
    cache_written: int | None = None
    reasoning: int | None = None
    prompt_source: Source = "unknown"
    output_source: Source = "unknown"


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """One model call is over, well or not; every call is counted at its own model.

    Times in ms: to the first token (reasoning, text or call), to the first event at all, to the first reasoning, to the
    first visible text, and to the end.
    """

    attempt: int
    model: str
    call: Literal["fast", "primary", "summary", "helper"]
    outcome: str
    tokens: Tokens
    ttft_ms: int | None
    rt_ms: int
    first_chunk_ms: int | None = None
    first_reasoning_ms: int | None = None
    first_answer_ms: int | None = None


@dataclass(frozen=True, slots=True)
class FellBack:
    """The fast model was given up; the same send goes to the primary model."""

    round: int
    reason: Literal["tool_call_seen", "timeout", "error"]
    requested: str
    actual: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The same send is made again after a wait (ms)."""

    round: int
    failure: str
    attempt: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A model round is over and its answer is in the history."""

    round: int
    model: str
    tier: Tier
    finish: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool runs."""

    call_id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool came back. `output_bytes` is what it gave, of which the history may hold less (`cut`)."""

    call_id: str
    name: str
    error: bool
    cancelled: bool
    output_bytes: int
    cut: bool
    duration_ms: int
    output: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ConfirmationAsked:
    """A call waits for the person: answer with `session.confirm(call_id, True)`."""

    call_id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Routed:
    """Which model answers the tool results, and why; or that no model round follows (`skip`)."""

    decision: Literal["skip", "fast", "primary"]
    reason: str
    veto_reason: str | None
    prompt_class: str


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A summary is being made. `cap` is the output cap (tokens) in the request."""

    forced: bool
    tokens: int | None
    cap: int | None


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """What became of it: only `accepted` has changed the history."""

    outcome: str
    forced: bool
    tokens_before: int
    tokens_after: int | None
    consecutive_failures: int


@dataclass(frozen=True, slots=True)
class StateChanged:
    """What a person sees and may do now."""

    state: Literal["idle", "responding", "waiting_for_confirmation", "summarizing"]
    accepts_message: bool
    suggestions: bool


@dataclass(frozen=True, slots=True)
class LoopSuspected:
    """The same thing came again and again; the turn is stopped."""

    what: Literal["chunk", "batch", "rounds"]
    times: int


@dataclass(frozen=True, slots=True)
class Degraded:
    """Something beside the agent failed (`what`), and the loop goes on in a conservative way (`how`).

    `error` is the kind of the failure, never its text.
    """

    what: Literal["policy", "store", "log", "hook", "trace", "place", "bundle", "prevalidation", "history"]
    how: str
    error: str


@dataclass(frozen=True, slots=True)
class Restored:
    """What had failed works again."""

    what: str


@dataclass(frozen=True, slots=True)
class HistoryRepaired:
    """A loaded history was not valid and was repaired."""

    answered_calls: int
    dropped_calls: int
    dropped_results: int
    moved_results: int
    dropped_messages: int


@dataclass(frozen=True, slots=True)
class BundleChanged:
    """Another bundle serves from this round on, as a whole."""

    digest: str
    before: str


@dataclass(frozen=True, slots=True)
class BundleRefused:
    """A changed bundle was refused; the last good one goes on. `findings` are lines for a person."""

    live: str
    refused: str | None
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FastTurnedOff:
    """The kill switch turned fast routing off."""

    fast_rounds: int
    fallbacks: int


@dataclass(frozen=True, slots=True)
class CapabilityMissing:
    """A model that the session was given lacks something that the policies ask of it; `instead` is what is done."""

    model: str
    wish: Literal["thinking_off", "tool_choice_none"]
    message: str
    instead: str


@dataclass(frozen=True, slots=True)
class WindowUnknown:
    """Neither the session nor the catalogue says how large the window of a model is; said once for each model of a
    session. `instead` is what is done."""

    model: str
    call: Literal["fast", "primary"]
    instead: str


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ends with an error, which `send` raises after this event. The history holds the person's message."""

    kind: str
    status: int | None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn."""

    turn_id: str
    status: TurnStatus
    rounds: int


Event: TypeAlias = (
    TurnStarted | ContextMeasured | RoundStarted | TextChunk | ReasoningChunk | TextWithdrawn | AttemptEnded | FellBack
    | Retrying | RoundEnded | ToolStarted | ToolEnded | ConfirmationAsked | Routed | CompactionStarted
    | CompactionEnded | StateChanged | LoopSuspected | Degraded | Restored | HistoryRepaired | BundleChanged
    | BundleRefused | FastTurnedOff | CapabilityMissing | WindowUnknown | TurnFailed | TurnEnded
)  # fmt: skip
