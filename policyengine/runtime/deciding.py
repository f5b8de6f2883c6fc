"""The decisions of a running agent: the bundle's policies, the shared state and the hooks, and no model call.

Whatever fails here ends in the conservative decision and in an event. `advisor` is the same for others' loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from policyengine.cel.limits import MAX_INT
from policyengine.kinds.batch import AfterBatch, Batch
from policyengine.kinds.before_send import BREAKER_FIELDS, BeforeSend, LoopState
from policyengine.kinds.bundle import builtin
from policyengine.kinds.loop import Loop
from policyengine.kinds.made import Made
from policyengine.kinds.prompt_size import Count
from policyengine.kinds.registry import KINDS
from policyengine.runtime.clock import Clock
from policyengine.runtime.events import Degraded, Event
from policyengine.runtime.hooks import Hooks, hooked
from policyengine.runtime.journal import Journal
from policyengine.runtime.live import Live
from policyengine.runtime.state.store import State, StateStore

D = TypeVar("D")

_NO_LADDER = {
    "tier": "none", "warn": None, "auto": None, "hard": None, "effective_window": None,
    "compact_max_output_tokens": None,
}  # fmt: skip
_NO_TIP = {"tip": None, "text": None, "footer": False}
_ALL_PRIMARY = {"decision": "primary", "reason": "error", "veto_reason": None, "model": None}
_GO_ON = {"directive": "continue", "terminal": False, "reason": "error"}


class Deciding:
    """Decides for one session. `scope` names the breaker; sessions and processes with one scope share it."""

    def __init__(
        self,
        live: Callable[[], Live],
        store: StateStore,
        *,
        scope: str,
        journal: Journal | None = None,
        hooks: Hooks | None = None,
        say: Callable[[Event], None] = lambda event: None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self._live = live
        self._store = store
        self._key = f"breaker:{scope}"
        self._journal = journal or Journal(None)
        self._hooks = hooks or Hooks()
        self._say = say
        self._now = clock or Clock().now_ms
        self._made: list[tuple[Live, Made, int]] = []

    @property
    def live(self) -> Live:
        """The bundle that serves now."""
        return self._live()

    async def before_send(
        self,
        state: LoopState,
        count: Count,
        *,
        window: int | None,
        prompts: int,
        forced: bool = False,
        asked: bool = False,
        triggers: Mapping[str, Any] | None = None,
    ) -> BeforeSend:
        """Everything that is decided before a send; the breaker's part in one step with the shared state.

        `forced` is a provider's demand, `asked` a person's, which passes every bound. `triggers` is the input of
        CompressionTriggers; without it that policy is not asked. `window` in tokens; None and 0 are unknown.
        """

        def decide(loop: Loop, joined: LoopState, now: int) -> tuple[BeforeSend, LoopState, tuple[Made, ...]]:
            before = loop.before_send(
                joined,
                count,
                window=window,
                session_prompt_count=prompts,
                now_ms=now,
                forced=forced,
                asked=asked,
                triggers=triggers,
            )
            return before, before.state, before.made

        decided = await self._with_breaker(state, decide, "no compaction before this send", changes_only=True)
        if decided is None:
            return BeforeSend(
                None, "unknown", _NO_LADDER, "open", "exhausted", forced, False, "error", _NO_TIP, state, ()
            )
        return hooked(self._hooks.before_send, decided, self._hook_failed)

    async def compacted(
        self, state: LoopState, *, forced: bool, facts: Mapping[str, Any], generation: int | None
    ) -> tuple[str, LoopState]:
        """What became of a compaction (`facts` as CompactionResult takes them), and the state after it."""

        def decide(
            loop: Loop, joined: LoopState, now: int
        ) -> tuple[tuple[str, LoopState], LoopState, tuple[Made, ...]]:
            result, after, made = loop.compacted(
                joined, forced=forced, facts=facts, attempt_generation=generation, now_ms=now
            )
            return (result, after), after, made

        decided = await self._with_breaker(state, decide, "the compaction counts as failed")
        if decided is None:
            return "error", state
        result, after = decided
        hook = self._hooks.compacted
        if hook is not None:
            hooked(lambda one: hook(one), result, self._hook_failed)
        return result, after

    async def cancelled(self, state: LoopState, generation: int | None = None) -> LoopState:
        """A compaction was given up without a verdict: a half-open permit is given back."""

        def decide(loop: Loop, joined: LoopState, now: int) -> tuple[LoopState, LoopState, tuple[Made, ...]]:
            after, made = loop.event(joined, "cancelled", now_ms=now, attempt_generation=generation)
            return after, after, made

        return await self._with_breaker(state, decide, "the permit ends with its lease") or state

    def after_batch(self, batch: Batch, *, history_tokens: int, fast_auto: int | None) -> AfterBatch:
        """What follows a batch: whether the model round is skipped, and which model answers it."""
        live = self.live
        try:
            decided = live.loop.after_batch(batch, history_tokens=history_tokens, fast_auto=fast_auto)
        except Exception as error:
            self._failed(error, "the primary model answers")
            return AfterBatch("action", _GO_ON, _ALL_PRIMARY, ())
        self.take(live, decided.made)
        return hooked(self._hooks.after_batch, decided, self._hook_failed)

    def failed(self, error: Exception, how: str) -> None:
        """Say that something beside the agent failed, and how the loop goes on."""
        self._failed(error, how)

    def ask(self, kind: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the policy that serves for `kind` decides."""
        live = self.live
        try:
            policy = live.policy(kind)
            decision = policy.decide(given)
            self.take(live, (Made(policy, given, decision),))
            return decision.outcome
        except Exception as error:
            self._failed(error, f"the conservative outcome of {kind} holds")
            stated = KINDS[kind].on_error
            return stated if stated is not None else builtin().serving(kind).outcome(given)

    def write(self, about: Mapping[str, Any], by_kind: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Log each decision since the last call. `about` goes into all records, `by_kind` into some.

        Raises `LogError` where a record was lost and the Logging policy says to stop then.
        """
        made, self._made = self._made, []
        for live, one, at in made:
            extra = {**about, **((by_kind or {}).get(one.policy.kind.name, {}))}
            self._journal.write(live.recorder, one, time_ms=at, about=extra)

    def check_log(self) -> None:
        """Say what the log has lost. Raises `LogError` where the Logging policy says to stop then."""
        self._journal.check()

    async def settle_log(self) -> None:
        """Wait, no longer than `log_wait_ms`, until the records so far are written; then as `check_log`."""
        await self._journal.settle(self.live.settings["log_wait_ms"])

    def take(self, live: Live, made: tuple[Made, ...]) -> None:
        """Keep decisions for the records; one that could not be evaluated is said."""
        now = self._now()
        for one in made:
            self._made.append((live, one, now))
            if one.decision.errors:
                self._say(Degraded("policy", f"the conservative outcome of {one.policy.name} holds", "EvaluationError"))

    async def _with_breaker(
        self,
        state: LoopState,
        decide: Callable[[Loop, LoopState, int], tuple[D, LoopState, tuple[Made, ...]]],
        how: str,
        *,
        changes_only: bool = False,
    ) -> D | None:
        """Decide in one step with the shared breaker. None where that failed; it is said `how` the loop goes on then.

        `decide` takes a state with the shared breaker and the time (ms), and gives what was decided, the state after
        it and the decisions. The breaker is stored after each, or with `changes_only` where it is another one.
        """
        live, now = self.live, self._now()

        def step(shared: State | None) -> tuple[State | None, tuple[D, tuple[Made, ...]] | Exception]:
            try:
                joined = _joined(state, shared, now)
                value, following, made = decide(live.loop, joined, now)
            except Exception as error:
                return None, error
            after = following.breaker_input()
            # Also where only a time that lay ahead was set right: it would hold the breaker until then.
            stored = joined.breaker_input() if shared is None else {name: shared.get(name) for name in after}
            return (None if changes_only and after == stored else after), (value, made)

        decided = await self._store.update(self._key, step)
        if isinstance(decided, Exception):
            self._failed(decided, how)
            return None
        value, made = decided
        self.take(live, made)
        return value

    def _failed(self, error: Exception, how: str) -> None:
        self._say(Degraded("policy", how, type(error).__name__))

    def _hook_failed(self, error: str) -> None:
        self._say(Degraded("hook", "the policy's own decision holds", error))


def _joined(state: LoopState, shared: State | None, now_ms: int) -> LoopState:
    """A session's state with the shared breaker. A time that lies ahead (a clock was set back) counts as now; what is
    no count that can go on (damaged) as not there."""
    if shared is None:
        return state
    fields: dict[str, Any] = {}
    for name in BREAKER_FIELDS:
        value = shared.get(name)
        whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_INT
        if name.endswith("_at_ms"):
            fields[name] = min(value, now_ms) if whole and isinstance(value, int) else None
        else:
            fields[name] = value if whole else getattr(state, name)
    return replace(state, **fields)
