"""Replay: what the policies of a bundle would have decided in every round of a recorded session.

Nothing is sent. Counts come from the recording. Where the policies compact and the recording did not, the counts
that follow are counterfactual: the replay then takes off what the compaction would have removed, assuming a
summary as long as its cap allows, and marks them `counterfactual`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from policyengine.check.quantiles import quantile
from policyengine.compression.compressor import Compressor
from policyengine.compression.refetch import Refetch, refetches
from policyengine.kinds.loop import (
    AfterBatch,
    Batch,
    BeforeSend,
    Count,
    Loop,
    LoopState,
    Made,
    Sizes,
    next_prompt_tokens,
    prompt_tokens,
)
from policyengine.kinds.tokenizers import Count as TokenCount
from policyengine.sessions import facts
from policyengine.sessions.model import Part, RecordedCompaction, Round, Session, ToolCall, Turn

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
    batch_calls: tuple[Mapping[str, Any], ...] = ()
    compaction_result: str | None = None

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

    @property
    def compactions(self) -> list[RoundReplay]:
        """The rounds before which a compaction was decided."""
        return [item for item in self.rounds if item.before.compact]


def replay(session: Session, loop: Loop, options: Options) -> SessionReplay:
    """Every round of a session under the policies of `loop`."""
    result = SessionReplay(session)
    result.rounds.extend(rounds(session, loop, options))
    result.refetches.extend(refetched(session, loop))
    return result


def refetched(session: Session, loop: Loop) -> list[Refetch]:
    """What was read again after each recorded compaction of a session."""
    return refetches(session, Compressor(loop)) if session.recorded_compactions else []


def rounds(session: Session, loop: Loop, options: Options) -> Iterator[RoundReplay]:
    """The rounds one by one, so that a caller can show progress."""
    yield from _Walk(session, loop, options).run()


def sizes(parts: Iterable[Part], count: TokenCount | None = None) -> Sizes:
    """How large parts are, for the token estimate. Thinking is not sent again and does not count.

    With `count`, a tokenizer, texts that the recording holds are counted by it.
    """
    text = data = images = tokens = 0
    for part in parts:
        if part.kind == "thinking":
            continue
        if part.kind in ("image", "document"):
            images += 1
        elif count is not None and part.text is not None and not part.redacted:
            tokens += count(part.text)
        elif part.kind == "text":
            text += part.bytes
        else:
            data += part.bytes
    return Sizes(text, data, images, tokens)


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
        self.history = Sizes()
        # What came after the response with the last count, where rounds since then reported none.
        self.uncounted = Sizes()
        self.last_tokens = 0
        self.last_model: str | None = None
        self.stale = False
        self.saved = 0
        self.overhead = 0
        self.first_of_context = True
        self.errors: frozenset[facts.CallKey] = frozenset()
        self.turn_calls: set[facts.CallKey] = set()
        self.turn_output = Sizes()
        self.batch: tuple[ToolCall, ...] = ()
        self.compacted = False
        self.fast_auto = self._fast_auto()
        self.count_tokens, _ = loop.tokenizer()

    def run(self) -> Iterator[RoundReplay]:
        previous: Round | None = None
        for item in self.session.rounds:
            if previous is None or previous.turn != item.turn:
                self.turn_calls, self.turn_output = set(), Sizes()
            yield self._round(item, previous)
            self._finish(item)
            previous = item

    def _round(self, item: Round, previous: Round | None) -> RoundReplay:
        window, origin = self._window(item)
        recorded = self.compactions.get(item.index, [])
        trace = self.options.trace_round == item.index
        added = self._sizes(item.added)
        waiting = self._sizes(recorded[0].pending) if recorded else added
        count = self._count(waiting)
        before = self.loop.before_send(
            self.state,
            count,
            window=window,
            session_prompt_count=self._prompts(item),
            now_ms=item.timestamp_ms or 0,
            trace=trace,
        )
        tokens, source = before.tokens, before.tokens_source
        if self.saved and tokens is not None:
            source = COUNTERFACTUAL
        self.state = before.state
        made = list(before.made)
        result = None
        if before.compact:
            result, events = self._compact(before, recorded=bool(recorded), now_ms=item.timestamp_ms or 0, trace=trace)
            made += events
        if recorded:
            made += self._recorded(decided=before.compact, now_ms=item.timestamp_ms or 0, trace=trace)
        actual = self._actual(item)
        ratio = None
        if not recorded and source == "usage" and tokens and actual:
            ratio = tokens / actual
        if self.first_of_context and actual:
            self.overhead = max(0, actual - self.loop.size_tokens(self.history + self.uncounted + added))
        self.first_of_context = False
        after: AfterBatch | None = None
        outcome: Outcome | None = None
        calls: tuple[Mapping[str, Any], ...] = ()
        if item.is_continuation and previous is not None:
            after, calls = self._after(item, tokens or 0, trace)
            made += after.made
            if after.routing["decision"] == "fast":
                outcome = "would_fall_back" if item.calls else "confirmed"
            self.compacted = False
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

    def _compact(self, before: BeforeSend, *, recorded: bool, now_ms: int, trace: bool) -> tuple[str, tuple[Made, ...]]:
        """The result of a compaction that was decided: as recorded, or as the arithmetic says it would be."""
        tokens = before.tokens or 0
        cap = before.ladder["compact_max_output_tokens"] or 0
        after = min(tokens, self.overhead + cap)
        assumed = {
            "stop_reason": "stop",
            "summary_bytes": 1,
            "output_tokens": None,
            "reasoning_tokens": None,
            "max_output_tokens": None,
            "tokens_before": tokens,
            "tokens_after": 0 if recorded else after,
            "auto": before.ladder["auto"],
            "compactions_in_a_row": max(1, self.state.compactions_in_a_row),
        }
        result, self.state, made = self.loop.compacted(
            self.state, forced=before.forced, facts=assumed, now_ms=now_ms, trace=trace
        )
        if result == "accepted":
            self.compacted = True
            if not recorded:
                self.saved += tokens - after
        return result, made

    def _recorded(self, *, decided: bool, now_ms: int, trace: bool) -> tuple[Made, ...]:
        """A compaction that the recording holds: what was counted before it is over, and it was a success."""
        made: tuple[Made, ...] = ()
        if not decided:
            self.state, made = self.loop.event(self.state, "success", now_ms=now_ms, trace=trace)
        self.history = self.uncounted = Sizes()
        self.stale = True
        self.saved = 0
        self.compacted = True
        self.first_of_context = True
        self.state = replace(self.state, tier="none")
        return made

    def _after(self, item: Round, tokens: int, trace: bool) -> tuple[AfterBatch, tuple[Mapping[str, Any], ...]]:
        turn = self.turns.get(item.turn)
        calls = tuple(self._call(call) for call in self.batch)
        batch = Batch(
            calls=calls,
            prompt=turn.prompt if turn else "",
            # Only a person's own words say what may be skipped; what a product injected is no plain query.
            prompt_known=turn is not None and turn.kind == "interactive" and not turn.prompt_redacted,
            turn_kind=turn.kind if turn else "interactive",
            strategy=self.options.strategy,
            always_summarize=self.options.always_summarize,
            unresolved_errors=len(self.errors),
            distinct_calls=len(self.turn_calls),
            tool_output=self.turn_output,
            compacted_or_cleared=self.compacted,
        )
        return self.loop.after_batch(batch, history_tokens=tokens, fast_auto=self.fast_auto, trace=trace), calls

    def _call(self, call: ToolCall) -> Mapping[str, Any]:
        about = self.loop.classify(call.name, call.arguments)
        return {
            "name": call.name,
            "tool": about["tool"],
            "kind": about["kind"],
            "mcp": about["mcp"],
            "error": bool(call.result and call.result.error),
            "cancelled": bool(call.result and call.result.cancelled),
            # No recorded format carries a tool's own word on this; unsaid is no.
            "declares_skip": False,
            "declares_terminal": False,
        }

    def _finish(self, item: Round) -> None:
        """Take the round's response into the history."""
        usage = self._usage(item)
        known = next_prompt_tokens(usage, self.contract) if usage and self.contract else None
        new = self._sizes(item.added) + self._sizes(item.output)
        if known is None and self.last_tokens and not self.stale:
            # The last count stays: an estimate of the whole lacks what no recording holds (system text, tools).
            self.uncounted += new
        else:
            self.history, self.uncounted = self.history + self.uncounted + new, Sizes()
        if known is not None:
            self.last_tokens, self.stale, self.last_model = known, False, item.model
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
        return self.session.window or self.loop.window(self.last_model)

    def _window(self, item: Round) -> tuple[int | None, str]:
        if self.options.window is not None:
            return self.options.window, "configured"
        if self.session.window is not None:
            return self.session.window, "session"
        window = self.loop.window(item.model or self.session.model)
        return window, "catalogue" if window else "unknown"

    def _fast_auto(self) -> int | None:
        window = self.options.fast_window or self.loop.window(self.loop.fast_model(self.session.provider))
        auto: int | None = self.loop.thresholds(window)["auto"]
        return auto

    def _prompts(self, item: Round) -> int:
        return sum(1 for turn in self.session.turns if turn.kind == "interactive" and turn.index <= item.turn)


def routing_totals(replays: Iterable[SessionReplay]) -> dict[str, Any]:
    """Continuations, how they were routed, and what followed the fast ones."""
    continuations = fast = confirmed = 0
    vetoes: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for item in (row for one in replays for row in one.rounds if row.after):
        assert item.after is not None
        continuations += 1
        if item.after.routing["decision"] == "fast":
            fast += 1
            confirmed += item.routing_outcome == "confirmed"
        elif veto := item.after.routing.get("veto_reason"):
            vetoes[veto] += 1
        else:
            others[item.after.routing.get("reason") or "unknown"] += 1
    return {
        "continuations": continuations,
        "fast": fast,
        "primary": continuations - fast,
        "vetoes": dict(vetoes.most_common()),
        "without_veto": dict(others.most_common()),
        "fast_confirmed": confirmed,
        "fast_would_fall_back": fast - confirmed,
    }


def directive_totals(replays: Iterable[SessionReplay]) -> dict[str, int]:
    """Batches that a model round answered, and how many of those rounds could have been skipped.

    A skippable round that called tools again in the recording is one that a skip would have cut off.
    """
    answered = [row for one in replays for row in one.rounds if row.after]
    skippable = [row for row in answered if row.after and row.after.directive["directive"] == "skip"]
    return {
        "batches": len(answered),
        "skippable": len(skippable),
        "skippable_followed_by_tool_call": sum(1 for row in skippable if row.round.calls),
    }


def refetch_totals(replays: Iterable[SessionReplay]) -> dict[str, float | int | None]:
    """Files read or changed before recorded compactions, and what was read of them again after (tokens, estimated)."""
    found = [item for one in replays for item in one.refetches]
    known, files = sum(item.known for item in found), sum(len(item.files) for item in found)
    return {
        "compactions": len(found),
        "known_files": known,
        "refetched_files": files,
        "rate": files / known if known else None,
        "tokens": sum(item.tokens for item in found),
    }


def estimate_totals(one: SessionReplay) -> dict[str, float | int | None]:
    """How close the estimate came: estimated / reported prompt tokens, over rounds with a last usage."""
    ratios = [row.estimate_ratio for row in one.rounds if row.estimate_ratio is not None]
    return {"rounds": len(ratios), **{name: quantile(ratios, share) for name, share in _SHARES.items()}}


def cache_totals(one: SessionReplay) -> dict[str, float | None]:
    """Cache hit rate of a round: cached / prompt tokens, where the provider reports both."""
    rates = [
        row.round.usage.cache_read / row.actual_tokens
        for row in one.rounds
        if row.round.usage and row.round.usage.cache_read is not None and row.actual_tokens
    ]
    return {"p50": quantile(rates, 0.5), "p90": quantile(rates, 0.9)}


_SHARES = {"p5": 0.05, "p50": 0.5, "p95": 0.95}
