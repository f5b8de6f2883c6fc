"""The decisions alone, for an agent that has a loop of its own: it calls no model and keeps no history."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from policyengine.kinds.batch import AfterBatch, Batch, BatchCall, directives_input, routing_input
from policyengine.kinds.before_send import BeforeSend, LoopState
from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.prompt_size import Count, Sizes, estimate_input
from policyengine.log.record import check_about
from policyengine.runtime.clock import Clock
from policyengine.runtime.deciding import Deciding
from policyengine.runtime.events import Degraded, Event, Restored, ToolKindUnknown
from policyengine.runtime.hooks import Hooks
from policyengine.runtime.journal import AnyLog, Journal, as_log
from policyengine.runtime.lacks import WITHOUT_KIND
from policyengine.runtime.live import Live
from policyengine.runtime.state.resilient import ResilientStore
from policyengine.runtime.state.store import MemoryStore, StateStore
from policyengine.runtime.stated import has, stated, stated_as, stated_input, stated_list, stated_text, stated_tokens
from policyengine.source.errors import InputError

_say = logging.getLogger("policyengine.runtime")


class Advisor:
    """Decides for one session of an agent that sends and compacts itself.

    Before each send ask `before_send`, after a compaction tell `compacted`, after the tools of a round ask
    `after_batch`; each part can be used without the others. What a call of this class gets is checked at once:
    `InputError` says what is missing or wrong. Whatever fails later (a policy, the store, the log) ends in the
    conservative decision and in an event.

    - `bundle`: a loaded bundle, a folder, or None for the built-in one.
    - `store`: where the breaker lives; None keeps it in memory. Sessions and processes with one `store` and `scope`
      share it.
    - `log`: takes the decisions: a `Log`, a sink, or the path of a file; None writes none.
    - `say`: gets the events (`Degraded`, `Restored`, `ToolKindUnknown`); without it, what fails or is not known is a
      warning of the logger `policyengine.runtime`.
    - `about`: fields of the log's records (`session_id`, `round`, ...); the mapping may be changed between two calls.
    """

    def __init__(
        self,
        bundle: Bundle | str | Path | None = None,
        store: StateStore | None = None,
        log: AnyLog | str | Path | None = None,
        *,
        scope: str = "default",
        hooks: Hooks | None = None,
        say: Callable[[Event], None] | None = None,
        clock: Callable[[], int] | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        stated_as(bundle, "bundle", "a Bundle, a folder, or None", (Bundle, str, Path), optional=True)
        self._live = Live(bundle if isinstance(bundle, Bundle) else load(bundle))
        stated_text(scope, "scope", empty=False)
        stated_as(say, "say", "a function that takes an event", callable, optional=True)
        stated_as(clock, "clock", "a function that gives Unix time in ms", callable, optional=True)
        stated_as(hooks, "hooks", "a Hooks", Hooks, optional=True)
        told = self._told = say or _warn
        self._kindless: set[str] = set()
        numbers = self._live.settings
        self._store = ResilientStore(
            stated_as(store or MemoryStore(), "store", "a state store", has("get", "update", "close")),
            timeout_s=numbers["store_timeout_ms"] / 1000,
            retry_s=numbers["store_retry_ms"] / 1000,
            on_down=lambda error: told(Degraded("store", "local state goes on", error)),
            on_up=lambda: told(Restored("store")),
        )
        taking, self._own_log = as_log(log, self._live.recorder, self._live.policy("Logging"))
        journal = Journal(
            taking,
            on_down=lambda error: told(Degraded("log", "decisions go on without records", error)),
            on_up=lambda: told(Restored("log")),
        )
        self.about: Mapping[str, Any] = {} if about is None else about
        """Fields of the records of the next decisions."""
        check_about(self.about)
        self._deciding = Deciding(
            lambda: self._live,
            self._store,
            scope=scope,
            journal=journal,
            hooks=hooks,
            say=told,
            clock=clock or Clock().now_ms,
        )

    @property
    def bundle(self) -> Bundle:
        """The bundle that decides."""
        return self._live.bundle

    def swap(self, bundle: Bundle) -> None:
        """Let another bundle decide from the next call on."""
        self._live = Live(stated_as(bundle, "bundle", "a Bundle", Bundle))

    async def before_send(
        self,
        state: LoopState,
        count: Count,
        *,
        window: int | None,
        prompts: int = 1,
        forced: bool = False,
        asked: bool = False,
        triggers: Mapping[str, Any] | None = None,
    ) -> BeforeSend:
        """Everything that is decided before a send: size, tier, breaker, whether to compact, tip.

        - `state`: what the last decision returned in its `state`; `LoopState()` at the beginning.
        - `count`: what is known about the size of the next prompt.
        - `window`: the model's context window, tokens; None and 0 are unknown.
        - `prompts`: messages that the person has sent in this session.
        - `forced`: the provider refused the prompt as too long; `asked`: the person wants a compaction now.
        - `triggers`: the input of CompressionTriggers (without `tier` and `tokens`), which may compact below the
          ladder; without it that policy is not asked.

        Raises `InputError` for what is none of this.
        """
        check_about(self.about)
        _check_state(state)
        stated_as(count, "count", "a Count", Count)
        for sizes in (count.added, count.history):
            stated_as(sizes, "count", "made of two Sizes, added and history", Sizes)
        stated_input(estimate_input(count), "count", "token-estimate")
        stated(prompts, "prompts", "tips", "session_prompt_count")
        stated(forced, "forced", "compaction-gate")
        stated(asked, "asked", "compaction-gate")
        known = stated_tokens(window, "window")
        if triggers is not None:
            stated_as(triggers, "triggers", "a mapping", Mapping)
            triggers = {"window": known, **triggers}
            stated_input({**triggers, "tier": "none", "tokens": 0}, "triggers", "compression-triggers")
        try:
            return await self._deciding.before_send(
                state, count, window=known, prompts=prompts, forced=forced, asked=asked, triggers=triggers
            )
        finally:
            self._write()

    async def compacted(
        self, state: LoopState, *, facts: Mapping[str, Any], forced: bool = False, generation: int | None = None
    ) -> tuple[str, LoopState]:
        """What became of a compaction, and the state after it; the history changes only where it is `accepted`.

        `facts` is the input of the policy CompactionResult (docs/kinds.md). `forced` as in the decision before it;
        `generation` is `state.generation` as it was when the compaction began. Raises `InputError` for facts that are
        missing or wrong.
        """
        check_about(self.about)
        _check_state(state)
        stated_input(facts, "facts", "compaction-result")
        stated(forced, "forced", "breaker")
        stated(generation, "generation", "breaker", "attempt_generation")
        try:
            return await self._deciding.compacted(state, forced=forced, facts=dict(facts), generation=generation)
        finally:
            self._write()

    async def cancelled(self, state: LoopState, generation: int | None = None) -> LoopState:
        """A compaction was given up without a verdict: a half-open permit is given back. Raises `InputError`."""
        check_about(self.about)
        _check_state(state)
        stated(generation, "generation", "breaker", "attempt_generation")
        try:
            return await self._deciding.cancelled(state, generation)
        finally:
            self._write()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object] | str = "",
        *,
        error: bool = False,
        cancelled: bool = False,
        declares_skip: bool = False,
        declares_terminal: bool = False,
    ) -> BatchCall:
        """A call for a `Batch`: what the tool does is what the bundle's tool catalogue says of its name and arguments.

        `arguments` is the parsed object, or the text where it was none. Of a tool that the catalogue does not list the
        kind is `other`, and `ToolKindUnknown` says so once: make the `BatchCall` yourself. Raises `InputError`.
        """
        stated_text(name, "name", empty=False)
        stated_as(arguments, "arguments", "a mapping, or a text that is no JSON object", (Mapping, str))
        about = self._live.loop.classify(name, arguments)
        if not about["listed"] and not about["mcp"] and name not in self._kindless:
            self._kindless.add(name)
            self._told(ToolKindUnknown((name,), WITHOUT_KIND))
        return BatchCall(
            name, about["kind"], about["tool"], error, cancelled, about["mcp"], declares_skip, declares_terminal
        )

    def auto(self, window: int | None) -> int | None:
        """The size (tokens) at which the ladder compacts in a window; for the fast model, `fast_auto` of `after_batch`.
        None where the window is unknown. Raises `InputError` for what is no number of tokens."""
        auto: int | None = self._live.loop.thresholds(stated_tokens(window, "window"))["auto"]
        return auto

    def after_batch(self, batch: Batch, *, history_tokens: int, fast_auto: int | None) -> AfterBatch:
        """What follows a batch: whether a model round follows (`directive`), and which model answers it (`routing`).

        `history_tokens` is the size of the next prompt, `fast_auto` the fast model's own threshold (`auto`), None where
        its window is unknown: then the primary model answers. Raises `InputError`, which names the field that is
        missing or wrong.
        """
        check_about(self.about)
        batch = _checked(batch)
        stated(history_tokens, "history_tokens", "routing")
        stated(fast_auto, "fast_auto", "routing")
        alone = replace(batch, calls=())
        routed = routing_input(alone, tool_output_tokens=0, history_tokens=history_tokens, fast_auto=fast_auto)
        stated_input(routed, "batch", "routing")
        stated_input(directives_input(alone, "query"), "batch", "directives")
        stated_input(estimate_input(Count(batch.tool_output)), "tool_output", "token-estimate")
        try:
            return self._deciding.after_batch(batch, history_tokens=history_tokens, fast_auto=fast_auto)
        finally:
            self._write()

    def ask(self, kind: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the policy that serves for another kind decides (`Retry`, `SendLimits`, ...). Raises `InputError` for an
        input that its schema does not allow, and for a kind that decides nothing."""
        check_about(self.about)
        policy = self._live.policy(kind)
        if not policy.compiled.fits(given) and (refusal := policy.compiled.refusal(given)) is not None:
            raise InputError(f"{kind}: {refusal.errors[0].message}")
        try:
            return self._deciding.ask(kind, given)
        finally:
            self._write()

    async def close(self) -> None:
        """Release the store, and the log where it is this object's own."""
        await self._store.close()
        if self._own_log is not None:
            await asyncio.to_thread(self._own_log.close)

    def _write(self) -> None:
        self._deciding.write(self.about)


def _warn(event: Event) -> None:
    """An event that nobody takes. It holds no prompt and no argument."""
    if isinstance(event, Degraded):
        _say.warning("%s: %s; %s", event.what, event.error, event.how)
    elif isinstance(event, ToolKindUnknown):
        _say.warning("tools of no known kind: %s; %s", ", ".join(event.tools), event.instead)


def _check_state(state: LoopState) -> None:
    """Raise `InputError` for a state that is none, or holds what no decision returned."""
    stated_as(state, "state", "a LoopState", LoopState)
    asked = {"event": "ask", "forced": False, "failure": None, "attempt_generation": None, "now_ms": 0}
    stated_input({**asked, **state.breaker_input()}, "state", "breaker")
    stated(state.tier, "tier", "compression-triggers")
    stated(state.tip, "tip", "tips", "shown")
    counted = state.compactions_in_a_row
    stated_as(counted, "compactions_in_a_row", "a whole number from 0 on", lambda one: type(one) is int and one >= 0)


def _checked(batch: Batch) -> Batch:
    """The batch with each call as a `BatchCall`. Raises `InputError`."""
    stated_as(batch, "batch", "a Batch", Batch)
    stated_as(batch.tool_output, "tool_output", "a Sizes", Sizes)
    stated_as(batch.prompt_known, "prompt_known", "true or false", bool)
    calls = stated_as(batch.calls, "calls", "a list of BatchCall", (list, tuple))
    for at, call in enumerate(calls):
        stated_as(call, f"calls[{at}]", "a BatchCall", (BatchCall, Mapping))
    given = [call.as_input() if isinstance(call, BatchCall) else {**_UNSAID, **call} for call in calls]
    stated_list([{"tool": call.get("name", ""), **call} for call in given], "calls", "directives", "batch")
    made = (call if isinstance(call, BatchCall) else BatchCall(**call) for call in calls)
    return replace(batch, calls=tuple(made))


_UNSAID = {"error": False, "cancelled": False, "mcp": False, "declares_skip": False, "declares_terminal": False}
