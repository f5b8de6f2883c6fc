"""One model call of a session with everything around it: limits, events, tokens, span."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policyengine.runtime.attempt import Attempt, CallKind, Listener
from policyengine.runtime.core import Core
from policyengine.runtime.events import AttemptEnded, Tokens
from policyengine.runtime.provider import Request
from policyengine.runtime.tracing import Span, provider_name


async def call(
    core: Core,
    request: Request,
    *,
    kind: CallKind,
    number: int,
    limits: dict[str, Any],
    prompt_estimate: int | None,
    guard: bool = False,
    listener: Listener | None = None,
    flow: Callable[[], Any] | None = None,
    parent: Span | None = None,
) -> tuple[Attempt, Tokens]:
    """Make a call and account for it, whatever becomes of it. Raises only a cancellation, accounted for too."""
    provider = core.provider_of(request.model)
    attempt = Attempt(number, request.model, kind, provider.name)
    span = core.tracing.start(
        f"chat {request.model}",
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_name(provider.name),
            "gen_ai.request.model": request.model,
            "gen_ai.request.max_tokens": request.max_output_tokens,
            "gen_ai.request.reasoning.level": "none" if request.thinking == "off" else None,
            "gen_ai.request.stream": True,
            "policyengine.call": kind,
        },
        parent,
    )
    taken = Tokens(None, None)
    outcome = "cancelled"
    try:
        await attempt.run(
            provider,
            request,
            first_token_ms=limits["first_token_ms"],
            stall_ms=limits["stall_ms"],
            guard=guard,
            listener=listener,
            flow=flow,
        )
        outcome = "stopped" if attempt.stopped else attempt.failure.kind if attempt.failure else "finished"
    finally:
        taken = core.tokens_of(attempt, prompt_estimate)
        core.say(
            AttemptEnded(
                number, request.model, kind, outcome, taken, attempt.ttft_ms, attempt.rt_ms, attempt.first_chunk_ms,
                attempt.first_reasoning_ms, attempt.first_answer_ms,
            )
        )  # fmt: skip
        span.set(
            {
                "gen_ai.response.model": request.model if attempt.finish else None,
                "gen_ai.response.finish_reasons": [attempt.finish] if attempt.finish else None,
                "gen_ai.response.time_to_first_chunk": _seconds(attempt.first_chunk_ms),
                "gen_ai.usage.input_tokens": taken.prompt,
                "gen_ai.usage.output_tokens": taken.output,
                "gen_ai.usage.cache_read.input_tokens": taken.cached,
                "gen_ai.usage.cache_write.input_tokens": taken.cache_written,
                "gen_ai.usage.reasoning.output_tokens": taken.reasoning,
                "policyengine.usage.estimated": "estimated" in (taken.prompt_source, taken.output_source),
            }
        )
        span.end(None if outcome == "finished" else outcome)
    return attempt, taken


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
