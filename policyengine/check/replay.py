"""Replay: what the policies of a bundle would have decided in every round of a recorded session.

Nothing is sent. Counts come from the recording. Where the policies compact and the recording did not, the counts
that follow are counterfactual: the replay then takes off what the compaction would have removed, assuming a
summary as long as its cap allows, and marks them `counterfactual`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, zip_longest
from typing import Any, Literal

from policyengine.check.context import ReplayContext, sizes
from policyengine.compression.compressor import Compressor
from policyengine.compression.refetch import Refetch, refetches
from policyengine.kinds import compacting
from policyengine.kinds.batch import AfterBatch, Batch, BatchCall
from policyengine.kinds.before_send import BeforeSend, LoopState
from policyengine.kinds.loop import Loop
from policyengine.kinds.made import Made
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.kinds.usage import next_prompt_tokens, prompt_tokens
from policyengine.sessions import facts
from policyengine.sessions.model import Part, RecordedCompaction, Round, Said, Session, ToolCall, Turn

COUNTERFACTUAL = "counterfactual"
"""`tokens_source` of a count that a compaction of this replay, not of the recording, has lowered."""

Outcome = Literal["confirmed", "would_fall_back"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a person sets for a replay. Windows in tokens; None takes what the session or the catalogue says."""

    window: int | None = None
    fast_window: int | None = None
    strategy: str = "auto"
    always_summarize: bool = False
    trace_round: int | None = None
    """The round (1-based) whose decisions carry their trace."""


@dataclass(frozen=True, slots=True)
class RoundReplay:
    """What was decided for one recorded round.

    `tokens` is the count on which the decisions before the send were made. `actual_tokens` is the prompt size
    that the provider reported for this round, None where it did not. `window` in tokens.
    """

    round: Round
    window: int | None
    window_origin: str
    before: BeforeSend
    tokens: int | None
    tokens_source: str
    actual_tokens: int | None
    estimate_ratio: float | None
    compaction_recorded: bool
    after: AfterBatch | None
    routing_outcome: Outcome | None
    made: tuple[Made, ...]
    batch_size: int = 0
    """Tool calls of the batch that this round answers; 0 for the first round of a turn."""
    batch_calls: tuple[BatchCall, ...] = ()
    compaction_result: str | None = None
    unanswered: AfterBatch | None = None
    """What was decided after this round's own batch where no round of the recording answers it."""

    @property
    def followed_by(self) -> str:
        """What the response was: `tool_call` or `text`."""
        return "tool_call" if self.round.calls else "text"


@dataclass(slots=True)
class SessionReplay:
    """A whole session replayed."""

    session: Session
    rounds: list[RoundReplay] = field(default_factory=list)
    refetches: list[Refetch] = field(default_factory=list)
    """What was read again after each recorded compaction."""
    unlisted: Mapping[str, int] = field(default_factory=dict)
    """Calls by the name of their tool, of tools whose kind is not known, the most frequent first."""

    @property
    def compactions(self) -> list[RoundReplay]:
        """The rounds before which a compaction was decided."""
        return [item for item in self.rounds if item.before.compact]


def replay(session: Session, loop: Loop, options: Options) -> SessionReplay:
    """Every round of a session under the policies of `loop`."""
    result = SessionReplay(session, unlisted=unlisted_tools(session, loop))
    result.rounds.extend(rounds(session, loop, options))
    result.refetches.extend(refetched(session, loop))
    return result


def refetched(session: Session, loop: Loop) -> list[Refetch]:
    """What was read again after each recorded compaction of a session."""
    return refetches(session, Compressor(loop)) if session.recorded_compactions else []


def unlisted_tools(session: Session, loop: Loop) -> dict[str, int]:
    """Calls of tools that the tool catalogue does not list and that say nothing themselves, by name.

    Tools of MCP servers are left out: policies know them as such.
    """
    counts: Counter[str] = Counter()
    for call in (call for item in session.rounds for call in item.calls if call.said is None):
        about = loop.classify(call.name, call.arguments)
        counts[call.name] += not about["listed"] and not about["mcp"]
    return {name: count for name, count in counts.most_common() if count}


def rounds(session: Session, loop: Loop, options: Options) -> Iterator[RoundReplay]:
    """The rounds one by one, so that a caller can show progress."""
    yield from _Walk(session, loop, options).run()


class _Walk:
    """The state of a replay between rounds."""

    def __init__(self, session: Session, loop: Loop, options: Options) -> None:
        self.session = session
        self.loop = loop
        self.options = options
        self.turns: dict[int, Turn] = {turn.index: turn for turn in session.turns}
        self.compactions: dict[int, list[RecordedCompaction]] = {}
        for compaction in session.recorded_compactions:
            self.compactions.setdefault(compaction.round, []).append(compaction)
        self.contract = loop.models.spec["usage"].get(session.provider)
        self.state = LoopState()
        self.context = ReplayContext(session, loop)
        self.history = Sizes()
        # What came after the response with the last count, where rounds since then reported none.
        self.uncounted = Sizes()
        # What the send of this round carries beside the history.
        self.added = Sizes()
        self.last_tokens = 0
        self.last_model: str | None = None
        self.last_window: int | None = None
        self.counted_window: int | None = None
        self.stale = False
        self.saved = 0
        self.overhead = 0
        self.first_of_context = True
        self.errors: frozenset[facts.CallKey] = frozenset()
        self.explicit_model: str | None = None
        self.turn_calls: set[facts.CallKey] = set()
        self.turn_output = Sizes()
        self.batch: tuple[ToolCall, ...] = ()
        self.compacted = False
        self.fast_auto = self._fast_auto()
        self.count_tokens, _ = loop.tokenizer()
        self.prompts = [0, *accumulate(int(turn.kind == "interactive") for turn in session.turns)]

    def run(self) -> Iterator[RoundReplay]:
        previous: Round | None = None
        for item, following in zip_longest(self.session.rounds, self.session.rounds[1:]):
            row = self._round(item, previous)
            self._finish(item)
            if unanswered := self._unanswered(item, following):
                row = replace(row, unanswered=unanswered, made=row.made + unanswered.made)
            yield row
            previous = item

    def _round(self, item: Round, previous: Round | None) -> RoundReplay:
        window, origin = self._window(item)
        recorded = self.compactions.get(item.index, [])
        trace = self.options.trace_round == item.index
        made: list[Made] = []
        if previous is None or previous.turn != item.turn:
            turn = self.turns.get(item.turn)
            self.turn_calls, self.turn_output = set(), Sizes()
            self.explicit_model = turn.model if turn is not None else None
            made += self._prompt_class(turn, trace)
        if item.index in self.session.cleared:
            self._cleared()
        self.context.waits(item.index)
        added = self.added = self._sizes(item.added)
        count = self._count(self._sizes(recorded[0].pending) if recorded else added)
        after: AfterBatch | None = None
        outcome: Outcome | None = None
        calls: tuple[BatchCall, ...] = ()
        if item.is_continuation and previous is not None:
            # The agent routes a continuation before it looks at how large it is.
            after, calls = self._after(item, self.loop.count_tokens(count), trace)
            made += after.made
            if after.routing["decision"] == "fast":
                outcome = "would_fall_back" if item.calls else "confirmed"
        before = self.loop.before_send(
            self.state,
            count,
            window=window,
            session_prompt_count=self.prompts[item.turn],
            now_ms=item.timestamp_ms or 0,
            triggers=self._triggers(count, window),
            trace=trace,
        )
        tokens, source = before.tokens, before.tokens_source
        if self.saved and tokens is not None:
            source = COUNTERFACTUAL
        self.state = before.state
        made += before.made
        result = None
        if before.compact:
            result, events = self._compact(item, before, recorded=bool(recorded), trace=trace)
            made += events
        if recorded:
            made += self._recorded(item, counted=result == "accepted", trace=trace)
        actual = self._actual(item)
        ratio = None
        if not recorded and source == "usage" and tokens and actual:
            ratio = tokens / actual
        if self.first_of_context and actual:
            self.overhead = max(0, actual - self.loop.size_tokens(self.history + self.uncounted + added))
        self.first_of_context = False
        self.last_window = window
        return RoundReplay(
            item, window, origin, before, tokens, source, actual, ratio, bool(recorded), after, outcome,
            tuple(made), len(self.batch) if after else 0, calls, result,
        )  # fmt: skip

    def _sizes(self, parts: Iterable[Part]) -> Sizes:
        return sizes(parts, self.count_tokens)

    def _count(self, added: Sizes) -> Count:
        return Count(
            self.uncounted + added,
            self.history,
            max(0, self.last_tokens - self.saved) if self.last_tokens else 0,
            self.stale,
            self._usage_window(),
        )

    def _prompt_class(self, turn: Turn | None, trace: bool) -> tuple[Made, ...]:
        """What kind of message starts a turn; one that a person did not type, or that cannot be read, has none."""
        made: list[Made] = []
        if turn is not None and turn.kind == "interactive" and not turn.prompt_redacted:
            self.loop.asking(made, trace=trace)("PromptClass", {"prompt": turn.prompt})
        return tuple(made)

    def _triggers(self, count: Count, window: int | None) -> Mapping[str, Any] | None:
        """What CompressionTriggers is asked before a send."""
        tokens = self.loop.count_tokens(count)
        by = self._summary_window(window)
        plan = compacting.plan(self.loop.asking([]), tokens=tokens, window=by, forced=False)
        return self.context.triggers(self.context.cut(plan["keep_tokens"]), tokens=tokens, window=window)

    def _summary_window(self, window: int | None) -> int | None:
        """The window of the model that would summarise (tokens)."""
        return self.last_window if compacting.by_model_before(self.last_window, window) else window

    def _compact(self, item: Round, before: BeforeSend, *, recorded: bool, trace: bool) -> tuple[str, tuple[Made, ...]]:
        """The result of a compaction that was decided: as recorded, or as the arithmetic says it would be."""
        made: list[Made] = []
        ask = self.loop.asking(made, trace=trace)
        tokens, now_ms = before.tokens or 0, item.timestamp_ms or 0
        target = self._window(item)[0]
        window = self._summary_window(target)
        keep = compacting.plan(ask, tokens=tokens, window=window, forced=before.forced)["keep_tokens"]
        cut = self.context.cut(keep)
        kept = self.context.kept(cut)
        summary: dict[str, Any] = {"stop_reason": "stop", "summary_bytes": 1}
        cap = after = 0
        if recorded or cut:
            by = item.model if window == target else self.last_model
            call = compacting.call(ask, before, self.loop.model(by or self.session.model), window)
            cap = call["max_output_tokens"] or before.ladder["compact_max_output_tokens"] or 0
            after = 0 if recorded else min(tokens, self.overhead + self.loop.size_tokens(kept) + cap)
            if not call["call"]:
                summary["stop_reason"] = "rejected"
        elif compacting.nothing_counts(before):
            after = tokens
        else:
            self.state, events = self.loop.event(
                self.state, "cancelled", attempt_generation=self.state.generation, now_ms=now_ms, trace=trace
            )
            return compacting.NOTHING, (*made, *events)
        result, self.state, events = self.loop.compacted(
            self.state,
            forced=before.forced,
            facts=compacting.judged(before, tokens, after, **summary),
            attempt_generation=before.state.generation,
            now_ms=now_ms,
            trace=trace,
        )
        if result == "accepted":
            self.compacted = True
            self.state = replace(self.state, tier="none")
            if not recorded:
                self.saved += tokens - after
                self.context.compacted(item.index, cut, cap)
                self.history, self.uncounted, self.added = Sizes(tokens=cap) + kept, Sizes(), Sizes()
        return result, (*made, *events)

    def _recorded(self, item: Round, *, counted: bool, trace: bool) -> tuple[Made, ...]:
        """A compaction that the recording holds: what was counted before it is over, and it was a success."""
        made: tuple[Made, ...] = ()
        if not counted:
            self.state, made = self.loop.event(self.state, "success", now_ms=item.timestamp_ms or 0, trace=trace)
        self.context.recorded(item.index)
        self.history = self.uncounted = Sizes()
        self.stale = True
        self.saved = 0
        self.compacted = True
        self.first_of_context = True
        self.state = replace(self.state, tier="none")
        return made

    def _cleared(self) -> None:
        """The person started anew: nothing of before is sent again, and no count of it stands."""
        self.history = self.uncounted = Sizes()
        self.last_tokens, self.saved = 0, 0
        self.errors = frozenset()
        self.compacted = True
        self.first_of_context = True

    def _unanswered(self, item: Round, following: Round | None) -> AfterBatch | None:
        """What is decided after a batch that no round answers: a round that was skipped leaves no other trace."""
        answered = following is not None and following.is_continuation
        results = [call.result for call in item.calls]
        if answered or not results or any(result is None or result.cancelled for result in results):
            return None
        waiting = self._sizes(part for result in results if result is not None for part in result.parts)
        trace = self.options.trace_round == item.index
        return self._after(item, self.loop.count_tokens(self._count(waiting)), trace)[0]

    def _after(self, item: Round, tokens: int, trace: bool) -> tuple[AfterBatch, tuple[BatchCall, ...]]:
        turn = self.turns.get(item.turn)
        calls = tuple(self._call(call) for call in self.batch)
        for call in self.batch:
            if call.said is not None and call.said.model is not None:
                self.explicit_model = call.said.model
        batch = Batch(
            calls=calls,
            prompt=turn.prompt if turn else "",
            # Only a person's own words say what may be skipped; what a product injected is no plain query.
            prompt_known=turn is not None and turn.kind == "interactive" and not turn.prompt_redacted,
            turn_kind=turn.kind if turn else "interactive",
            strategy=self.options.strategy,
            explicit_model=self.explicit_model,
            always_summarize=self.options.always_summarize,
            unresolved_errors=len(self.errors),
            distinct_calls=len(self.turn_calls),
            tool_output=self.turn_output,
            compacted_or_cleared=self.compacted,
        )
        self.compacted = False
        return self.loop.after_batch(batch, history_tokens=tokens, fast_auto=self.fast_auto, trace=trace), calls

    def _call(self, call: ToolCall) -> BatchCall:
        about = self.loop.classify(call.name, call.arguments)
        # Only our own recordings carry a tool's own word; unsaid is no.
        said = call.said or Said(about["kind"], about["mcp"])
        return BatchCall(
            call.name,
            said.kind,
            about["tool"],
            error=bool(call.result and call.result.error),
            cancelled=bool(call.result and call.result.cancelled),
            mcp=said.mcp,
            declares_skip=said.skip_llm_round,
            declares_terminal=said.result_is_terminal,
        )

    def _finish(self, item: Round) -> None:
        """Take the round's response into the history."""
        usage = self._usage(item)
        known = next_prompt_tokens(usage, self.contract) if usage and self.contract else None
        new = self.added + self._sizes(item.output)
        if known is None and self.last_tokens and not self.stale:
            # The last count stays: an estimate of the whole lacks what no recording holds (system text, tools).
            self.uncounted += new
        else:
            self.history, self.uncounted = self.history + self.uncounted + new, Sizes()
        if known is not None:
            self.last_tokens, self.stale, self.last_model = known, False, item.model
            self.counted_window = item.window
        self.context.answered(item.index)
        self.batch = item.calls
        self.errors = facts.unresolved_errors(item.calls, self.errors)
        self.turn_calls |= facts.distinct_calls(item.calls)
        self.turn_output += self._sizes(part for call in item.calls if call.result for part in call.result.parts)

    def _usage(self, item: Round) -> dict[str, int | None] | None:
        return asdict(item.usage) if item.usage else None

    def _actual(self, item: Round) -> int | None:
        usage = self._usage(item)
        return prompt_tokens(usage, self.contract) if usage and self.contract else None

    def _usage_window(self) -> int | None:
        """The window of the model that reported the last count, where no setting overrides it."""
        if self.options.window is not None:
            return None
        return self.counted_window or self.session.window or self.loop.window(self.last_model)

    def _window(self, item: Round) -> tuple[int | None, str]:
        if self.options.window is not None:
            return self.options.window, "configured"
        if (stated := item.window or self.session.window) is not None:
            return stated, "session"
        window = self.loop.window(item.model or self.session.model)
        return window, "catalogue" if window else "unknown"

    def _fast_auto(self) -> int | None:
        # A recording's format says who counted; the model says who serves the fast one beside it.
        provider = self.loop.model(self.session.model)["provider"] or self.session.provider
        window = self.options.fast_window or self.loop.window(self.loop.fast_model(provider))
        auto: int | None = self.loop.thresholds(window)["auto"]
        return auto
