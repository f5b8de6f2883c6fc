"""Collects what a reader meets, in file order, and makes the session of it.

The rules of the turn model live here once; a reader only says what it met: a prompt, a piece of content, a
result, a response, a compaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from policyengine.sessions.content import call_part, fingerprint, parse_arguments
from policyengine.sessions.model import (
    Format,
    Part,
    Provider,
    RecordedCompaction,
    Round,
    Said,
    Session,
    ToolCall,
    ToolResult,
    Trigger,
    Turn,
    TurnKind,
    Usage,
)


@dataclass(slots=True)
class CallDraft:
    """A tool call that may still get its result."""

    id: str
    name: str
    arguments: dict[str, object] | str
    result: ToolResult | None = None
    said: Said | None = None

    def done(self) -> ToolCall:
        """Give the call as it stands."""
        return ToolCall(self.id, self.name, self.arguments, fingerprint(self.arguments), self.result, self.said)


@dataclass(slots=True)
class RoundDraft:
    """A round that may still grow: more lines of its response, its usage, results of its calls."""

    index: int
    turn: int
    context: int
    added: tuple[Part, ...]
    is_continuation: bool
    before_ms: int | None
    model: str | None = None
    usage: Usage | None = None
    output: list[Part] = field(default_factory=list)
    calls: list[CallDraft] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    """Ids of the calls."""
    stop_reason: str | None = None
    timestamp_ms: int | None = None
    window: int | None = None

    def call(self, call_id: str, name: str, arguments: object) -> None:
        """Add a tool call of the response; `arguments` as the file has them."""
        parsed = parse_arguments(arguments)
        self.calls.append(CallDraft(call_id, name, parsed))
        self.ids.add(call_id)
        self.output.append(call_part(name, parsed, call_id))

    def done(self) -> Round:
        """Give the round as it stands."""
        duration = None
        if self.timestamp_ms is not None and self.before_ms is not None:
            duration = self.timestamp_ms - self.before_ms
        return Round(
            index=self.index,
            turn=self.turn,
            context=self.context,
            model=self.model,
            usage=self.usage,
            added=self.added,
            output=tuple(self.output),
            calls=tuple(call.done() for call in self.calls),
            is_continuation=self.is_continuation,
            stop_reason=self.stop_reason,
            timestamp_ms=self.timestamp_ms,
            # A clock that was set back says nothing about how long the call took.
            duration_ms=duration if duration is not None and duration >= 0 else None,
            window=self.window,
        )


@dataclass(slots=True)
class _TurnDraft:
    prompt: str
    redacted: bool
    kind: TurnKind
    first_round: int | None = None
    model: str | None = None


class Builder:
    """Builds one session."""

    def __init__(self, path: str, format: Format, provider: Provider | None) -> None:
        self.path = path
        self.format: Format = format
        self.provider: Provider | None = provider
        self.window: int | None = None
        self.noted: Counter[str] = Counter()
        self.rounds: list[RoundDraft] = []
        self.pending: list[Part] = []
        self.clock_ms: int | None = None
        self._turns: list[_TurnDraft] = []
        self._compactions: list[RecordedCompaction] = []
        self._cleared: list[int] = []
        self._context = 0
        self._answered = False  # tool results wait to be sent, and no turn has started since
        self._open_calls: dict[str, CallDraft] = {}
        self._open_names: dict[str, dict[str, None]] = {}  # name to the ids of its open calls, in order

    def time(self, moment_ms: int | None) -> None:
        """Tell the time of something recorded that is no response."""
        if moment_ms is not None:
            self.clock_ms = moment_ms

    def add(self, parts: Iterable[Part]) -> None:
        """Take content that the next send carries."""
        self.pending.extend(parts)

    def turn(
        self,
        prompt: str,
        *,
        redacted: bool = False,
        kind: TurnKind = "interactive",
        join: bool = False,
        model: str | None = None,
    ) -> None:
        """Start a turn, with the `model` that was chosen for it. With `join`, a turn that has no round yet takes the
        prompt in as a further one."""
        last = self._turns[-1] if self._turns else None
        if join and last and last.first_round is None and last.kind == kind:
            last.prompt = "\n\n".join(text for text in (last.prompt, prompt) if text)
            last.redacted = last.redacted or redacted
            return
        self._turns.append(_TurnDraft(prompt, redacted, kind, model=model))
        self._answered = False

    def respond(self, kind: TurnKind = "interactive") -> RoundDraft:
        """Start a round. Where no prompt came before it, an empty turn of this kind stands for it."""
        if not self._turns:
            self._turns.append(_TurnDraft("", False, kind))
        turn = self._turns[-1]
        draft = RoundDraft(
            index=len(self.rounds) + 1,
            turn=len(self._turns),
            context=self._context,
            added=tuple(self.pending),
            # Results that come late, after a new prompt, continue nothing.
            is_continuation=self._answered and turn.first_round is not None,
            before_ms=self.clock_ms,
        )
        if turn.first_round is None:
            turn.first_round = draft.index
        self.rounds.append(draft)
        self.pending.clear()
        self._answered = False
        return draft

    def called(self, draft: RoundDraft, call_id: str | None, name: str, arguments: object) -> None:
        """Add a call to a round's response and await its result. A call without an id gets one of its own."""
        identity = call_id or f"round-{draft.index}-call-{len(draft.calls) + 1}"
        draft.call(identity, name, arguments)
        self._close(identity)
        self._open_calls[identity] = draft.calls[-1]
        self._open_names.setdefault(name, {})[identity] = None

    def open_call_named(self, name: str) -> str | None:
        """Id of the first call of that name that has no result; for formats that pair by name."""
        return next(iter(self._open_names.get(name, ())), None)

    def _close(self, call_id: str) -> CallDraft | None:
        """Take a call out of those that await their result."""
        call = self._open_calls.pop(call_id, None)
        if call is not None:
            del self._open_names[call.name][call_id]
        return call

    def result(
        self,
        call_id: str | None,
        parts: Iterable[Part],
        *,
        error: bool | None = None,
        cancelled: bool = False,
        said: Said | None = None,
    ) -> None:
        """Take a tool result: pair it with its call, and let the next send carry it. `said` is the tool's own word."""
        content = tuple(parts)
        self.pending.extend(content)
        self._answered = True
        call = self._close(call_id) if call_id else None
        if call is None:
            self.noted["tool result without an open call"] += 1
            return
        text_bytes = sum(part.bytes for part in content if part.kind in ("tool_result", "json"))
        call.result = ToolResult(content, text_bytes, error, cancelled)
        call.said = said

    def compaction(
        self, trigger: Trigger | None, tokens: int | None, summary: Iterable[Part] = (), *, keep: bool = False
    ) -> None:
        """Take a recorded compaction, with what stands for the history from now on.

        What waited to be sent was summarised too, unless the product still sends it (`keep`).
        """
        self._compactions.append(
            RecordedCompaction(
                round=len(self.rounds) + 1,
                trigger=trigger,
                tokens=tokens,
                context=self._context,
                pending=tuple(self.pending),
            )
        )
        self.pending = [*summary, *(self.pending if keep else ())]
        self._context += 1

    def cleared(self) -> None:
        """Take that the person started anew: nothing of before is sent again."""
        self.pending.clear()
        self._answered = False
        self._cleared.append(len(self.rounds) + 1)

    def done(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""
        rounds = tuple(draft.done() for draft in self.rounds)
        return Session(
            path=self.path,
            format=self.format,
            provider=self.provider,
            model=next((draft.model for draft in self.rounds if draft.model), None),
            window=self.window,
            window_origin="session" if self.window is not None else None,
            rounds=rounds,
            turns=tuple(
                Turn(number, draft.prompt, draft.redacted, draft.kind, draft.first_round, draft.model)
                for number, draft in enumerate(self._turns, start=1)
            ),
            recorded_compactions=tuple(self._compactions),
            unsent=tuple(self.pending),
            cleared=tuple(self._cleared),
            skipped=skipped,
            noted=dict(self.noted),
            lines=lines,
        )
