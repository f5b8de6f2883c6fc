"""One model round: measured, compacted where that is due, sent, guarded, tried again, and stored when it is whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from policyengine.kinds.before_send import BeforeSend
from policyengine.kinds.usage import next_prompt_tokens
from policyengine.runtime.attempt import Attempt, Listener
from policyengine.runtime.calls import call
from policyengine.runtime.compaction import Compactor
from policyengine.runtime.core import Core
from policyengine.runtime.events import (
    ContextMeasured,
    Degraded,
    FellBack,
    LoopSuspected,
    ReasoningChunk,
    Retrying,
    RoundEnded,
    RoundStarted,
    TextChunk,
    TextWithdrawn,
    Tier,
)
from policyengine.runtime.messages import Call, Message
from policyengine.runtime.places import Draft, LoopDetector
from policyengine.runtime.plan import Fallback, Plan, Report, StoppedError
from policyengine.runtime.prevalidation import Prevalidation
from policyengine.runtime.provider import Request
from policyengine.runtime.tracing import Span
from policyengine.runtime.usage import as_recorded, as_usage


class RoundRunner:
    """Runs the rounds of one turn."""

    def __init__(
        self, core: Core, compactor: Compactor, early: Callable[[], Prevalidation], flow: Callable[[], Any]
    ) -> None:
        self._core = core
        self._compactor = compactor
        self._new_early = early
        self._flow = flow
        self.early = early()
        self.report: Report | None = None
        self.draft: Draft | None = None
        self._shown: int | None = None

    async def run(self, plan: Plan, prompt_id: str, parent: Span | None) -> tuple[Attempt, Message | None, Report]:
        """The answer, already in the history. Raises `ProviderError` where the policies give up."""
        core = self._core
        core.rounds += 1
        self.report = report = Report(plan.tier, plan.tier, core.rounds, model_requested=plan.model)
        span = core.tracing.start(
            "policyengine.round",
            {"gen_ai.request.model": plan.model, "policyengine.tier.requested": plan.tier},
            parent,
        )
        error: str | None = "cancelled"
        try:
            core.say(RoundStarted(core.rounds, plan.model, plan.tier, plan.reason))
            model = await self._prepare(plan, report, span)
            attempt, message = await self._send(plan, model, prompt_id, report, span)
            error = None
            return attempt, message, report
        except Exception as failure:
            error = getattr(failure, "kind", type(failure).__name__)
            raise
        finally:
            self.early_if_failed(error)
            span.set(
                {
                    "gen_ai.response.model": None if error else core.last_model,
                    "policyengine.tier.actual": report.actual,
                    "policyengine.fallback.reason": report.fallback_reason,
                    "gen_ai.conversation.compacted": report.compacted,
                }
            )
            span.end(error)

    def early_if_failed(self, error: str | None) -> None:
        """Early checks of a stream that is gone are gone too."""
        if error is not None:
            self.early.cancel()
            self.withdraw("cancelled" if error == "cancelled" else "error")

    def withdraw(self, reason: str) -> bool:
        """Take back what was shown of an answer that will not be one. False where there is nothing to take back."""
        if self.draft is None or not self.draft.discard():
            return False
        if self._shown is not None:
            self._core.say(TextWithdrawn(self._shown, reason))
            self._shown = None
        return True

    async def _measure(self, model: str, report: Report, *, forced: bool = False) -> BeforeSend:
        core = self._core
        window = core.window_of(model)
        before = await core.advisor.before_send(
            core.state,
            core.count(),
            window=window,
            prompts=core.sent,
            forced=forced,
            triggers=None if forced else self._triggers(model),
        )
        core.state = before.state
        report.tokens_source, report.tier = before.tokens_source, before.tier
        report.prompt_estimate = before.tokens
        auto = before.ladder.get("auto")
        left = None if auto is None or before.tokens is None else max(0, auto - before.tokens)
        core.say(
            ContextMeasured(
                before.tokens,
                before.tokens_source,
                before.tier,
                window,
                left,
                before.tip["tip"],
                before.tip.get("text"),
            )
        )
        return before

    def _triggers(self, model: str) -> Mapping[str, Any] | None:
        """What CompressionTriggers is asked; None where that cannot be worked out: the ladder then stands alone."""
        core = self._core
        try:
            tokens = core.tokens_before()
            cut = self._compactor.cut(tokens, core.window_of(self._compactor.model(model)))
            return core.triggering.facts(
                core.live(), core.history.messages, cut, tokens=tokens, window=core.window_of(model)
            )
        except Exception as error:
            core.advisor.failed(error, "the ladder alone says when to compact")
            return None

    async def _prepare(self, plan: Plan, report: Report, span: Span) -> str:
        """What happens before the send; the model that it then goes to."""
        core = self._core
        target = self._target(plan)
        before = await self._measure(target, report)
        if before.compact:
            outcome = await self._compactor.compact(before, target, parent=span)
            report.compacted = outcome.accepted
            if outcome.accepted:
                report.prompt_estimate = None
            if not outcome.accepted and plan.tier == "primary" and self._too_small(target, before):
                assert core.last_primary is not None
                core.say(
                    Degraded(
                        "history", "the model before goes on: the history does not fit the new one", outcome.result
                    )
                )
                return core.last_primary
        return plan.model

    def _target(self, plan: Plan) -> str:
        """The model whose ladder counts: a fast model only gets what fits it; another one carries the conversation."""
        return self._core.settings.primary if plan.tier == "fast" else plan.model

    def _too_small(self, target: str, before: BeforeSend) -> bool:
        """Whether the model before could take what this one cannot."""
        core = self._core
        window, last = core.window_of(target), core.last_primary
        if window is None or last is None or last == target or before.tokens is None or before.tokens < window:
            return False
        old = core.window_of(last)
        return old is not None and old > window

    async def _send(
        self, plan: Plan, model: str, prompt_id: str, report: Report, span: Span
    ) -> tuple[Attempt, Message | None]:
        core = self._core
        tier: Tier = plan.tier
        tried: dict[str, int] = {"fast": 0, "primary": 0}
        overflowed = False
        while True:
            tried[tier] += 1
            request, limits = self._request(plan, tier, model, report)
            attempt = await self._attempt(request, limits, tier, report, span)
            if attempt.good and self.draft is not None and self.draft.commit():
                # From here to the end nothing waits: the answer is whole and enters as a whole.
                return attempt, self._store(attempt, tier, self._target(plan), prompt_id, report)
            self.early.cancel()
            failure = attempt.failure
            self.withdraw(failure.kind if failure else "stopped")
            if failure is None:
                raise StoppedError
            then = core.advisor.ask(
                "Retry",
                {
                    "call": tier,
                    "failure": failure.kind,
                    "status": failure.status,
                    "attempt": tried[tier],
                    "retry_after_ms": failure.retry_after_ms,
                    "text_shown": attempt.text_bytes > 0,
                },
            )
            if then["action"] == "retry":
                core.say(Retrying(report.number, failure.kind, tried[tier] + 1, then["delay_ms"]))
                await asyncio.sleep(then["delay_ms"] / 1000)
            elif then["action"] == "fall_back" and tier == "fast":
                reason: Fallback = then.get("fallback_reason") or "error"
                report.fallback_reason = reason
                report.actual = tier = "primary"
                before, model = model, core.choices.explicit_model or core.settings.primary
                core.choices.at("fallback")
                core.say(FellBack(report.number, reason, before, model))
            elif then["action"] == "compact" and not overflowed:
                overflowed = True
                decided = await self._measure(model, report, forced=True)
                if not decided.compact or not (await self._compactor.compact(decided, model, parent=span)).accepted:
                    raise failure.error
                report.compacted, report.prompt_estimate = True, None
            else:
                raise failure.error

    def _request(self, plan: Plan, tier: Tier, model: str, report: Report) -> tuple[Request, Mapping[str, Any]]:
        core = self._core
        facts = core.facts_of(model)
        style = core.advisor.ask(
            "SummaryRound",
            {
                "call": tier,
                "continuation": plan.continuation,
                "terminal": plan.terminal,
                "tool_choice_none": facts["tool_choice_none"],
                "thinking": facts["thinking"],
            },
        )
        if style["instruction"] and not core.brief:
            core.brief = f"\n\n{style['instruction']}"
        tools, system = core.toolset, core.settings.system + core.brief
        changed = core.prefix.round(system, core.settings.memory, tools.digest, model)
        if report.prefix_changed == "none":
            report.prefix_changed = changed
        limits = core.advisor.ask(
            "SendLimits",
            {
                "call": tier,
                "window": core.window_of(model),
                "tokens": report.prompt_estimate or core.estimate(),
                "max_output": facts["max_output"],
            },
        )
        request = Request(
            model=model,
            facts=facts,
            system=core.system,
            messages=core.messages_for(model, core.history.messages),
            tools=tools.specs,
            tool_choice=style["tool_choice"] if tools.specs else "auto",
            max_output_tokens=limits["max_output_tokens"],
            thinking=style["thinking"],
        )
        return request, limits

    async def _attempt(
        self, request: Request, limits: Mapping[str, Any], tier: Tier, report: Report, span: Span
    ) -> Attempt:
        core = self._core
        number = core.next_attempt()
        detector = LoopDetector()
        self.draft = draft = Draft(
            (*core.places, detector), lambda error: core.say(Degraded("place", "the answer goes on without it", error))
        )
        self._shown = None
        self.early = early = self._new_early()
        most = core.live().settings["repeated_chunks"]
        provisional = tier == "fast"

        def text(piece: str) -> bool:
            if not draft.add(piece):
                return False
            self._shown = number
            core.say(TextChunk(piece, number, provisional))
            if detector.repeats >= most:
                core.say(LoopSuspected("chunk", detector.repeats))
                return False
            return True

        def reasoning(piece: str) -> bool:
            self._shown = number
            core.say(ReasoningChunk(piece, number))
            return True

        def seen(call: Call) -> bool:
            early.seen(call, core.tools.get(call.name))
            return True

        attempt, taken = await call(
            core,
            request,
            kind=tier,
            number=number,
            limits=dict(limits),
            prompt_estimate=report.prompt_estimate or core.estimate(),
            guard=tier == "fast",
            listener=Listener(text, reasoning, seen),
            flow=self._flow,
            parent=span,
        )
        report.rt_ms += attempt.rt_ms
        report.ttft[tier] = attempt.ttft_ms
        report.tokens = taken
        if tier == "fast":
            report.fast_tokens = (taken.prompt or 0) + (taken.output or 0)
            whole = taken.prompt_source == taken.output_source == "usage"
            report.fast_source = "usage" if whole else "estimated"
        return attempt

    def _store(self, attempt: Attempt, tier: Tier, measured: str, prompt_id: str, report: Report) -> Message | None:
        """Take a whole answer into the history and the recording; its send was measured against the window of the
        model `measured`. Nothing here waits."""
        core = self._core
        settings = core.live().settings
        message = core.history.push_answer(attempt.blocks, prompt_id, settings["interrupted"])
        covered = len(core.history) - (1 if message is not None and attempt.calls else 0)
        usage = attempt.usage
        known = next_prompt_tokens(as_usage(usage), core.contract_of(attempt.model)) if usage else None
        if known is not None:
            # A round without a count never lowers the next one: the last count stays, and all since is new to it.
            core.last_prompt_tokens = known
            core.usage_stale = False
            core.counted = covered
        core.last_model = attempt.model
        if tier == "primary":
            core.last_primary = attempt.model
        finish = attempt.finish or "stop"
        report.model_actual = attempt.model
        report.response = "tool_call" if attempt.calls else "text"
        if message is not None:
            core.answers.append(message)
            core.transcript.answer(
                message,
                core.now_ms(),
                model=attempt.model,
                tokens=as_recorded(report.tokens, core.contract_of(attempt.model)),
                finish=finish,
                window=core.window_of(measured),
            )
        core.say(RoundEnded(report.number, attempt.model, tier, finish, report.tokens))
        return message
