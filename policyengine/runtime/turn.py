"""One turn: a person's message, and rounds and batches until an answer calls no tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from policyengine.kinds.batch import AfterBatch, Batch
from policyengine.log.fields import ROUND_KINDS
from policyengine.log.writer import LogError
from policyengine.runtime.batch import BatchRun, BatchRunner
from policyengine.runtime.channel import Channel
from policyengine.runtime.compaction import Compactor
from policyengine.runtime.core import Core
from policyengine.runtime.events import (
    Degraded,
    FastTurnedOff,
    LoopSuspected,
    Routed,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    TurnStatus,
)
from policyengine.runtime.history import calls_of
from policyengine.runtime.plan import Plan, Report, StoppedError
from policyengine.runtime.prevalidation import Prevalidation
from policyengine.runtime.provider import ProviderError
from policyengine.runtime.round import RoundRunner
from policyengine.runtime.switches import RATE_LIMIT, Switches
from policyengine.runtime.tracing import Span
from policyengine.sessions import facts
from policyengine.sessions.model import ToolCall
from policyengine.source.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Start:
    """What starts a turn. `text` is what the person wrote, as decisions see it."""

    prompt_id: str
    text: str
    kind: str = "interactive"
    model: str | None = None
    again: bool = False
    """The person tries the last message again."""


class Turn:
    """Runs in a task of its own; its events go through `channel`."""

    def __init__(
        self, core: Core, start: Start, compactor: Compactor, batches: BatchRunner, switches: Switches,
        between_rounds: Callable[[], Any],
    ) -> None:  # fmt: skip
        self._core = core
        self._start = start
        self._batches = batches
        self._switches = switches
        self._between_rounds = between_rounds
        self.channel = Channel()
        self.status: TurnStatus = "cancelled"
        self.aborted = False
        self.closed = False
        self.task: asyncio.Task[None] | None = None
        self._rounds = RoundRunner(core, compactor, self._early, self.channel.flow)
        self._first_round = core.rounds + 1
        self.turn_id = f"{core.id}/{core.prompts}"
        self._calls: list[ToolCall] = []
        self._output = BatchRun().output
        self._last_batch: tuple[facts.CallKey, ...] = ()
        self._equal_batches = 0
        self._after: AfterBatch | None = None
        self._previous = core.last_decision
        self._limited = False

    def abort(self) -> None:
        """A new message takes the place of the answer that streams: it leaves every place at once, here and now."""
        self.aborted = True
        self.channel.drop_text()
        self._rounds.withdraw("replaced")
        if self.task is not None:
            self.task.cancel()

    async def run(self) -> None:
        """The turn; one that was replaced ends quietly.

        Raises `ProviderError` where it fails, `MissingExtraError` where the provider's SDK is not installed, `LogError`
        where a record was lost and the Logging policy says to stop.
        """
        core = self._core
        span = core.tracing.start("invoke_agent policyengine", {"gen_ai.operation.name": "invoke_agent"})
        error: str | None = None
        core.presentation.at("turn_started")
        core.say(TurnStarted(self.turn_id, self._start.prompt_id))
        try:
            status = await self._run(span)
            self._write(self._rounds.report)
            self.status = status
            await core.advisor.settle_log()
        except asyncio.CancelledError:
            if self.status == "cancelled":
                error = self.status = "discarded" if self.aborted else "cancelled"
            if not self.aborted:
                raise
        except StoppedError:
            error = self.status = "stopped"
        except ProviderError as failure:
            self.status, error = "failed", failure.kind
            core.say(TurnFailed(failure.kind, failure.status))
            raise
        except MissingExtraError:
            self.status, error = "failed", "missing_extra"
            core.say(TurnFailed("missing_extra", None))
            raise
        except LogError:
            self.status, error = "failed", "log"
            core.say(TurnFailed("log", None))
            raise
        except Exception as failure:
            self.status, error = "failed", type(failure).__name__
            core.say(TurnFailed("internal", None))
            raise
        finally:
            core.presentation.at("turn_ended")
            with suppress(LogError):
                # The turn has ended already; the next one hears of it before it begins.
                self._write(self._rounds.report)
            core.say(TurnEnded(self.turn_id, self.status, core.rounds + 1 - self._first_round))
            span.end(error)
            self.closed = True
            self.channel.close()

    async def _run(self, span: Span) -> TurnStatus:
        core = self._core
        if self._start.kind == "interactive":
            core.advisor.ask("PromptClass", {"prompt": self._start.text})
        core.last_decision = None
        most = core.live().settings["max_rounds"]
        plan = Plan("primary", core.choices.explicit_model or core.settings.primary, "first_round")
        for _ in range(most):
            await self._between_rounds()
            core.advisor.check_log()
            _, message, report = await self._rounds.run(plan, self._start.prompt_id, span)
            await self._count_fast(report)
            calls = calls_of(message) if message is not None else ()
            if not calls:
                return "completed"
            core.presentation.at("tool_calls")
            self._write(report)
            self._rounds.report = None
            batch = await self._batches.run(calls, self._rounds.early, parent=span)
            if self._repeats(batch):
                return "stopped"
            after = await self._decide(batch)
            if after.directive["directive"] == "skip":
                return "skipped"
            plan = self._plan(after)
        core.say(LoopSuspected("rounds", most))
        return "stopped"

    async def _decide(self, batch: BatchRun) -> AfterBatch:
        """What follows a batch."""
        core = self._core
        core.errors = facts.unresolved_errors(batch.recorded, core.errors)
        self._calls += batch.recorded
        self._output = self._output + batch.output
        if batch.model is not None:
            core.choices.at("skill_model", model=batch.model)
        fast = core.fast_model()
        access = await self._switches.take("routing", core.settings.fast_routing) if fast is not None else None
        fast_auto = core.live().loop.thresholds(core.window_of(fast))["auto"] if fast is not None else None
        self._after = after = core.advisor.after_batch(
            Batch(
                calls=batch.calls,
                prompt=self._start.text,
                prompt_known=self._start.kind == "interactive",
                turn_kind=self._start.kind,
                strategy=core.settings.strategy,
                explicit_model=core.choices.explicit_model,
                activated=access is not None and access.allowed,
                always_summarize=core.settings.always_summarize,
                unresolved_errors=len(core.errors),
                distinct_calls=len(facts.distinct_calls(self._calls)),
                tool_output=self._output,
                compacted_or_cleared=core.compacted_or_cleared,
            ),
            history_tokens=self._history_tokens(),
            fast_auto=fast_auto,
        )
        core.compacted_or_cleared = False
        self._limited = access is not None and access.reason == RATE_LIMIT
        if access is not None and (after.directive["directive"] == "skip" or after.routing["decision"] != "fast"):
            await self._switches.give_back("routing", access)
        skip = after.directive["directive"] == "skip"
        decision: Literal["skip", "fast", "primary"] = "skip" if skip else after.routing["decision"]
        core.last_decision = decision
        core.say(
            Routed(
                decision,
                after.directive.get("reason", "skip") if skip else after.routing["reason"],
                None if skip else after.routing.get("veto_reason"),
                after.prompt_class,
            )
        )
        return after

    def _history_tokens(self) -> int:
        """Tokens of the next prompt for routing: never less than what the provider last counted."""
        core = self._core
        added = core.live().loop.size_tokens(core.total(core.history.messages[core.counted :]))
        return core.last_prompt_tokens + added if core.last_prompt_tokens and not core.usage_stale else core.estimate()

    def _plan(self, after: AfterBatch) -> Plan:
        core = self._core
        routing = after.routing
        terminal = bool(after.directive.get("terminal"))
        core.choices.at("batch_done", tier=routing["decision"])
        if terminal:
            core.presentation.at("terminal_batch")
        fast = core.fast_model()
        if routing["decision"] == "fast" and fast is not None:
            if not self._limited:
                return Plan("fast", fast, routing["reason"], True, terminal)
            # A person's own choice of the fast model passes every stage, but no rate limit.
            return Plan("primary", core.settings.primary, RATE_LIMIT, True, terminal)
        model = routing.get("model") or core.choices.explicit_model or core.settings.primary
        if not core.serves(model):
            core.say(Degraded("policy", "the primary model answers: nobody serves the one asked for", "UnknownModel"))
            model = core.settings.primary
        return Plan("primary", model, routing["reason"], True, terminal)

    def _repeats(self, batch: BatchRun) -> bool:
        """Whether the same batch came too often in a row."""
        core = self._core
        key = tuple(facts.call_key(call) for call in batch.recorded)
        self._equal_batches = self._equal_batches + 1 if key == self._last_batch else 1
        self._last_batch = key
        if self._equal_batches < core.live().settings["repeated_batches"]:
            return False
        core.say(LoopSuspected("batch", self._equal_batches))
        return True

    async def _count_fast(self, report: Report) -> None:
        if report.requested != "fast":
            return
        counted = await self._switches.fast_round(report.fallback_reason is not None)
        if counted is not None:
            self._core.say(FastTurnedOff(*counted))

    def _early(self) -> Prevalidation:
        core = self._core
        return Prevalidation(
            core.advisor.ask,
            lambda tool, call: self._batches.kind_of(tool, call),
            lambda error: core.say(Degraded("prevalidation", "the ordinary check follows", error)),
        )

    def _write(self, report: Report | None) -> None:
        """Records of what was decided since the last call, with what came of it."""
        core = self._core
        about: dict[str, Any] = {
            "session_id": core.id,
            "turn_id": self.turn_id,
            "prompt_id": self._start.prompt_id,
            "round": report.number if report is not None else max(1, core.rounds),
            "tier": report.tier if report is not None else None,
        }
        by_kind: dict[str, dict[str, Any]] = {"CompactionResult": {"compaction_rt_ms": core.compaction_ms}}
        if self._previous is not None:
            # Only the first look at the prompt counts: what asks for more detail asks about the turn before.
            by_kind["PromptClass"] = {"previous_decision": self._previous}
            self._previous = None
        if report is not None:
            told = {
                **report.facts(),
                "consecutive_failures": core.state.consecutive_failures,
                "half_written_texts": core.half_written(self._start.prompt_id),
            }
            by_kind |= {kind: dict(told) for kind in ROUND_KINDS}
        if self._after is not None:
            common = {
                "user_prompt_classification": self._after.prompt_class,
                "signal_skip_llm_round": self._after.directive["directive"] == "skip",
                "signal_result_is_terminal": self._after.directive.get("terminal"),
            }
            by_kind["Directives"] = common
            tried = report.routing() if report is not None else {}
            by_kind["Routing"] = {**by_kind.get("Routing", {}), **common, **tried}
        core.advisor.write(about, by_kind)
        if report is not None:
            self._after = None
