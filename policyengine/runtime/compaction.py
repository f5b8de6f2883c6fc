"""A compaction: what the policies said is carried out, and only an accepted summary changes the history."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from policyengine.compression.cut import split
from policyengine.kinds import compacting
from policyengine.kinds.before_send import BeforeSend
from policyengine.kinds.compacting import NOTHING
from policyengine.runtime.calls import call
from policyengine.runtime.core import Core
from policyengine.runtime.events import CompactionEnded, CompactionStarted
from policyengine.runtime.history import summary_role
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import Request
from policyengine.runtime.sizing import message_sizes
from policyengine.runtime.summarizer import StopReason, Summarizer, Summary, SummaryAnswer, SummaryJob
from policyengine.runtime.tracing import Span

CANCELLED: Final = "cancelled"
_STOPS: Final[Mapping[str, StopReason]] = {
    "stop": "stop", "length": "length", "tool_calls": "tool_calls", "content_filter": "content_filter",
}  # fmt: skip
_MOST_TRIES: Final = 1_000
"""Calls for one summary. The Retry policy ends them long before; one that never does may not call without end."""
_REFUSALS: Final = ("refused", "context_overflow")
"""Failures with which a provider says that it will not take this request."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a compaction: `accepted`, a failure kind, or that there was nothing to do."""

    result: str

    @property
    def accepted(self) -> bool:
        """Whether the history was compacted."""
        return self.result == "accepted"


class Compactor:
    """Carries out the compactions of one session."""

    def __init__(self, core: Core, summarizer: Summarizer) -> None:
        self._core = core
        self._summarizer = summarizer

    async def compact(self, before: BeforeSend, target: str, *, parent: Span | None = None) -> Outcome:
        """Compact the history for `target`, as `before` decided. A cancellation is no verdict on the breaker."""
        core = self._core
        core.state = before.state
        core.compaction_ms = None
        generation = before.state.generation
        try:
            outcome = await self._compact(before, target, parent)
        except asyncio.CancelledError:
            # The permit of a half-open try is given back even though this task is stopped: in a task of its own.
            await _apart(self._release(generation))
            core.say(
                CompactionEnded(CANCELLED, before.forced, before.tokens or 0, None, core.state.consecutive_failures)
            )
            raise
        if outcome.result == NOTHING:
            await self._release(generation)
        return outcome

    async def _release(self, generation: int) -> None:
        core = self._core
        core.state = await core.advisor.cancelled(core.state, generation)

    async def _compact(self, before: BeforeSend, target: str, parent: Span | None) -> Outcome:
        core = self._core
        tokens = before.tokens or 0
        model = self.model(target)
        window = core.window_of(model)
        plan = compacting.plan(core.advisor.ask, tokens=tokens, window=window, forced=before.forced)
        messages = core.history.messages
        cut = self._split(messages, plan["keep_tokens"])
        if cut == 0:
            return await self._nothing(before, tokens)
        span, kept = messages[:cut], messages[cut:]
        decided = compacting.call(core.advisor.ask, before, core.facts_of(model), window)
        core.say(CompactionStarted(before.forced, before.tokens, decided["max_output_tokens"]))
        summary = Summary("rejected")
        if decided["call"]:
            summary = await self._summary(model, span, plan["instruction"], decided, tokens, parent)
        text = f"{plan['heading']}\n{summary.text.strip()}"
        role = summary_role(None, kept[0] if kept else None)
        message = Message(role, (Text(text),), summary=True)
        after = self._after(tokens, before.tokens_source, message, kept, summary)
        result = await self._judge(before, summary, decided["max_output_tokens"], tokens, after)
        if result == "accepted":
            self._store(message, kept, tokens, before.forced)
        failures = core.state.consecutive_failures
        core.say(CompactionEnded(result, before.forced, tokens, after, failures))
        return Outcome(result)

    async def _nothing(self, before: BeforeSend, tokens: int) -> Outcome:
        """There is nothing to summarise: no verdict the first time; again in a row, what is left cannot be cut."""
        core = self._core
        result = NOTHING
        if compacting.nothing_counts(before):
            result = await self._judge(before, Summary("stop", "-"), None, tokens, tokens)
        core.say(CompactionEnded(result, before.forced, tokens, None, core.state.consecutive_failures))
        return Outcome(result)

    async def _judge(self, before: BeforeSend, summary: Summary, cap: int | None, tokens: int, after: int) -> str:
        core = self._core
        facts = compacting.judged(
            before,
            tokens,
            after,
            stop_reason=summary.stop_reason,
            summary_bytes=summary.bytes,
            output_tokens=summary.output_tokens,
            reasoning_tokens=summary.reasoning_tokens,
            max_output_tokens=cap,
        )
        result, core.state = await core.advisor.compacted(
            core.state, forced=before.forced, facts=facts, generation=before.state.generation
        )
        return result

    def _store(self, message: Message, kept: Sequence[Message], tokens: int, forced: bool) -> None:
        """The one place where a summary takes the history's place. Nothing here waits."""
        core = self._core
        core.history.compact(message, kept)
        core.transcript.compaction(core.history.messages, core.now_ms(), tokens=tokens, forced=forced)
        # A count from before says nothing about the history as it is now.
        core.usage_stale = True
        core.counted = 0
        core.compacted_or_cleared = True
        core.prefix.compacted()
        core.state = replace(core.state, tier="none")

    def cut(self, tokens: int, window: int | None) -> int:
        """How many messages a compaction of the automatic path would summarise now."""
        core = self._core
        policy = core.live().policy
        plan = compacting.plan(
            lambda kind, given: policy(kind).outcome(given), tokens=tokens, window=window, forced=False
        )
        return self._split(core.history.messages, plan["keep_tokens"])

    def model(self, target: str) -> str:
        """Who summarises: the model that served last where its window is larger than that of the one to come."""
        core = self._core
        last = core.last_primary
        if last is None or last == target:
            return target
        return last if compacting.by_model_before(core.window_of(last), core.window_of(target)) else target

    async def _summary(
        self,
        model: str,
        span: Sequence[Message],
        instruction: str,
        decided: Mapping[str, Any],
        tokens: int,
        parent: Span | None,
    ) -> Summary:
        async def ask(messages: Sequence[Message]) -> SummaryAnswer:
            return await self._ask(model, messages, decided, tokens, parent)

        job = SummaryJob(span, instruction, decided["max_output_tokens"], ask)
        try:
            return await self._summarizer.summarize(job)
        except Exception:
            # Whatever a summarizer raises, its compaction has failed: a kind of its own says so.
            return Summary("error")

    async def _ask(
        self, model: str, messages: Sequence[Message], decided: Mapping[str, Any], tokens: int, parent: Span | None
    ) -> SummaryAnswer:
        """One summarising call, tried again as the Retry policy says."""
        core = self._core
        facts = core.facts_of(model)
        limits = core.advisor.ask(
            "SendLimits",
            {
                "call": "summary",
                "window": core.window_of(model),
                "tokens": tokens,
                "max_output": facts["max_output"],
            },
        )
        request = Request(
            model=model,
            facts=facts,
            system=core.system,
            messages=core.messages_for(model, messages),
            # The same tools as always keep the cached prefix; none may be called. A provider whose model refuses that
            # leaves the tools out.
            tools=core.toolset.specs,
            tool_choice="none" if core.tools else "auto",
            max_output_tokens=decided["max_output_tokens"],
            thinking=decided["thinking"],
        )
        for tried in range(1, _MOST_TRIES + 1):
            attempt, taken = await call(
                core,
                request,
                kind="summary",
                number=core.next_attempt(),
                limits=dict(limits),
                prompt_estimate=tokens,
                parent=parent,
            )
            core.compaction_ms = (core.compaction_ms or 0) + attempt.rt_ms
            failure = attempt.failure
            if failure is None:
                break
            then = core.advisor.ask(
                "Retry",
                {
                    "call": "summary",
                    "failure": failure.kind,
                    "status": failure.status,
                    "attempt": tried,
                    "retry_after_ms": failure.retry_after_ms,
                    "text_shown": False,
                },
            )
            if then["action"] != "retry":
                return SummaryAnswer("rejected" if failure.kind in _REFUSALS else "error")
            await asyncio.sleep(then["delay_ms"] / 1000)
        reported = taken.output if taken.output_source == "usage" else None
        finish = _STOPS.get(attempt.finish or "error", "error")
        if attempt.calls:
            finish = "tool_calls"
        return SummaryAnswer(finish, attempt.text, reported, taken.reasoning)

    def _after(self, tokens: int, source: str, message: Message, kept: Sequence[Message], summary: Summary) -> int:
        """Tokens of the prompt with the summary in place, on the scale of the count before."""
        core = self._core
        loop = core.live().loop
        rest = loop.size_tokens(core.prefix_sizes() + core.total(kept))
        if source == "usage":
            whole = core.estimate()
            # The estimate may lie beside the provider's count; what is kept is taken at the same rate.
            rest = -(-rest * tokens // whole) if whole else rest
        text = loop.size_tokens(message_sizes(message, loop.tokenizer()[0]))
        if summary.output_tokens is not None:
            text = max(text, summary.output_tokens - (summary.reasoning_tokens or 0))
        return rest + text

    def _split(self, messages: Sequence[Message], keep_tokens: int) -> int:
        """Before which message this history is cut."""
        loop, sizes = self._core.live().loop, self._core.sizes(messages)
        roles = [message.role for message in messages]
        return split(roles, lambda index: loop.size_tokens(sizes[index]), keep_tokens, _unanswered(messages))


def _unanswered(messages: Sequence[Message]) -> int:
    """How many messages at the end are a person's and wait for their answer: they are never summarised away."""
    count = 0
    for message in reversed(messages):
        if message.role != "user" or message.summary:
            break
        count += 1
    return count


_APART: set[asyncio.Task[None]] = set()


async def _apart(step: Coroutine[Any, Any, None]) -> None:
    """Run a short step to its end even where the caller is cancelled again."""
    task = asyncio.ensure_future(step)
    _APART.add(task)
    task.add_done_callback(_APART.discard)
    await asyncio.shield(task)
