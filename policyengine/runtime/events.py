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
    """A turn begins. `turn_id` is its own; `prompt_id` stays the same through every retry and fallback."""

    turn_id: str
    prompt_id: str


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """The size of the next prompt and what the ladder says about it.

    - `tokens`: the size, None where it is unknown; `tokens_source`: usage, estimated or unknown.
    - `tier`: none, warn, auto or hard; `window`: tokens, None where it is unknown.
    - `left_until_auto`: tokens until a compaction, None where the window is unknown.
    - `tip`: the id of the tip to show, None for none; `tip_text`: what it says.
    """

    tokens: int | None
    tokens_source: str
    tier: str
    window: int | None
    left_until_auto: int | None
    tip: str | None
    tip_text: str | None


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A model round begins.

    - `round`: its number in the session, from 1; `model`, `tier`: who is asked; `reason`: why.
    """

    round: int
    model: str
    tier: Tier
    reason: str


@dataclass(frozen=True, slots=True)
class TextChunk:
    """Visible text. A `provisional` one may be taken back by `TextWithdrawn` with the same `attempt` (number of the
    model call in the session, from 1)."""

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
    """All text and reasoning of this attempt is taken back: it is no part of the history. `reason`: what took it back
    (tool_call_seen, a failure kind, replaced, ...)."""

    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one attempt in one sense for all providers; None where nobody knows.

    - `prompt`: all of it, what was read from or written to a cache included (`cached`, `cache_written`).
    - `output`: what was answered; `reasoning`: how much of it, or beside it, was reasoning.
    - `prompt_source`, `output_source`: usage (reported), estimated or unknown.
    """

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

    - `attempt`: its number in the session, from 1; `call`: what it was for.
    - `outcome`: `finished`, `stopped` (by us), `cancelled`, or the kind of its failure.
    - `ttft_ms`: time to the first token (reasoning, text or call), None where none came; `rt_ms`: to the end.
    - `first_chunk_ms`, `first_reasoning_ms`, `first_answer_ms`: to the first event at all, the first reasoning, the
      first visible text. All times in ms.
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
    """The fast model was given up; the same send goes to the primary model.

    - `round`: number of the round; `reason`: why; `requested`, `actual`: the models.
    """

    round: int
    reason: Literal["tool_call_seen", "timeout", "error"]
    requested: str
    actual: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The same send is made again after a wait.

    - `round`: number of the round; `failure`: kind of the failure; `attempt`: number of the try that
      follows; `delay_ms`: the wait, ms.
    """

    round: int
    failure: str
    attempt: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A model round is over and its answer is in the history.

    - `finish`: why the answer ended: stop, length, tool_calls or content_filter.
    """

    round: int
    model: str
    tier: Tier
    finish: str
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool runs. `kind`: what it does (read, search, fetch, edit, ...)."""

    call_id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool came back.

    - `error`: its result is an error; `cancelled`: it was refused, or stopped.
    - `output_bytes`: what it gave, of which the history may hold less (`cut`); `output`: the text in the history.
    - `duration_ms`: how long it took, the person's answer to a question included, ms.
    """

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
    """A call waits for the person: answer with `session.confirm(call_id, True)`. `kind`: what the tool does."""

    call_id: str
    name: str
    kind: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Routed:
    """Which model answers the tool results, and why; or that no model round follows (`skip`).

    - `veto_reason`: what kept the round from the fast model; `prompt_class`: query, action or analysis.
    """

    decision: Literal["skip", "fast", "primary"]
    reason: str
    veto_reason: str | None
    prompt_class: str


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A summary is being made.

    - `forced`: it has to be; `tokens`: size of the prompt; `cap`: the output cap in the request, tokens.
    """

    forced: bool
    tokens: int | None
    cap: int | None


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """What became of it: only `accepted` has changed the history.

    - `outcome`: `accepted`, `cancelled`, or the kind of the failure.
    - `tokens_before`, `tokens_after`: size of the prompt; the latter None where there is no summary.
    - `consecutive_failures`: failures of the automatic path in a row.
    """

    outcome: str
    forced: bool
    tokens_before: int
    tokens_after: int | None
    consecutive_failures: int


@dataclass(frozen=True, slots=True)
class StateChanged:
    """What a person sees and may do now: whether a message may be sent, whether suggestions may be shown."""

    state: Literal["idle", "responding", "waiting_for_confirmation", "summarizing"]
    accepts_message: bool
    suggestions: bool


@dataclass(frozen=True, slots=True)
class LoopSuspected:
    """The same thing (`what`) came again and again, so many `times`; the turn is stopped."""

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
    """A loaded history was not valid and was repaired: how many calls were given a result, how many calls, results and
    messages were left out, how many results were put behind their calls."""

    answered_calls: int
    dropped_calls: int
    dropped_results: int
    moved_results: int
    dropped_messages: int


@dataclass(frozen=True, slots=True)
class BundleChanged:
    """Another bundle serves from this round on, as a whole. Both digests: of this one, and of the one `before`."""

    digest: str
    before: str


@dataclass(frozen=True, slots=True)
class BundleRefused:
    """A changed bundle was refused; the last good one goes on. `live`, `refused`: their digests (None where there is
    none, as it cannot be read); `findings` are lines for a person."""

    live: str
    refused: str | None
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FastTurnedOff:
    """The kill switch turned fast routing off, because of so many `fallbacks` among so many `fast_rounds`."""

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
class ToolKindUnknown:
    """Neither these tools nor the tool catalogue say what they do; said once for each tool. `instead` is what is done.

    Tools of MCP servers are left out: policies know them as such.
    """

    tools: tuple[str, ...]
    instead: str


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn ends with an error, which `send` raises after this event. The history holds the person's message.

    `kind`: kind of the failure, `log`, `missing_extra` or `internal`; `status`: HTTP status, None where there is none.
    """

    kind: str
    status: int | None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn: how it ended, and how many model `rounds` it had."""

    turn_id: str
    status: TurnStatus
    rounds: int


Event: TypeAlias = (
    TurnStarted | ContextMeasured | RoundStarted | TextChunk | ReasoningChunk | TextWithdrawn | AttemptEnded | FellBack
    | Retrying | RoundEnded | ToolStarted | ToolEnded | ConfirmationAsked | Routed | CompactionStarted
    | CompactionEnded | StateChanged | LoopSuspected | Degraded | Restored | HistoryRepaired | BundleChanged
    | BundleRefused | FastTurnedOff | CapabilityMissing | WindowUnknown | ToolKindUnknown | TurnFailed
    | TurnEnded
)  # fmt: skip
