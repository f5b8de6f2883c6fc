"""Helper calls: short answers of the fast model beside the conversation (labels, suggestions), under its one limit."""

from __future__ import annotations

from policyengine.runtime.calls import call
from policyengine.runtime.core import Core
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import Request
from policyengine.runtime.sizing import message_sizes, text_sizes
from policyengine.runtime.switches import Switches


async def helper_call(core: Core, switches: Switches, prompt: str, system: str, cap: int | None) -> str | None:
    """What the fast model answers, tried once; None where it may not be called, or the call failed.

    It knows nothing of the conversation, gets no tools, and nothing of it enters the history.
    """
    model = core.fast_model()
    if model is None or not core.serves(model):
        return None
    access = await switches.take("helper", core.settings.fast_routing)
    if not access.allowed:
        return None
    loop = core.live().loop
    facts = core.facts_of(model)
    messages = [Message("user", (Text(prompt),))]
    count, _ = loop.tokenizer()
    tokens = loop.size_tokens(text_sizes(system, count) + message_sizes(messages[0], count))
    limits = core.advisor.ask(
        "SendLimits",
        {"call": "fast", "window": core.window_of(model), "tokens": tokens, "max_output": facts["max_output"]},
    )
    if cap is not None:
        cap += facts["thinking_headroom"] or 0
    known = [limit for limit in (cap, limits["max_output_tokens"], facts["max_output"]) if limit]
    request = Request(
        model=model,
        facts=facts,
        system=system,
        messages=messages,
        max_output_tokens=min(known) if cap is not None or limits["max_output_tokens"] else None,
        thinking="off",
    )
    attempt, _ = await call(
        core, request, kind="helper", number=core.next_attempt(), limits=dict(limits), prompt_estimate=tokens
    )
    return attempt.text if attempt.good and not attempt.calls else None
