"""What is decided between the gate and the verdict of a compaction: what stays as it is, and what the call may write.

Replay and the runtime adapter both call this module, each with its own way of asking a policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from policyengine.kinds.before_send import BeforeSend

Ask = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Asks the policy of a kind about an input; its outcome."""

NOTHING: Final = "nothing_to_summarise"
"""What became of a compaction that found nothing it could take away; the first time in a row this is no verdict."""


def by_model_before(before: int | None, target: int | None) -> bool:
    """Whether the model that served last summarises, by both windows (tokens): it could read what the next cannot."""
    return before is not None and (target is None or before > target)


def plan(ask: Ask, *, tokens: int, window: int | None, forced: bool) -> Mapping[str, Any]:
    """The outcome of SummaryPlan. `window` (tokens) is that of the model that summarises."""
    return ask("SummaryPlan", {"tokens": tokens, "window": window, "forced": forced})


def call(ask: Ask, before: BeforeSend, facts: Mapping[str, Any], window: int | None) -> Mapping[str, Any]:
    """The outcome of CompactionCall: the cap that goes on the wire, or that no call can be made.

    `facts` is what the catalogue knows about the model that summarises, `window` (tokens) its window.
    """
    given = {
        "window": window,
        "input_tokens": before.tokens or 0,
        "cap": before.ladder["compact_max_output_tokens"],
        "max_output": facts["max_output"],
        "thinking_headroom": facts["thinking_headroom"],
    }
    decided = ask("CompactionCall", given)
    if not decided["call"] and before.tokens_source != "usage" and window is not None:
        # Only the provider's own count may keep a compaction from being tried.
        decided = ask("CompactionCall", {**given, "window": None})
    return decided


def nothing_counts(before: BeforeSend) -> bool:
    """Whether finding nothing to take away is a verdict: again in a row, what is left cannot be cut."""
    return before.state.compactions_in_a_row > 1


def judged(
    before: BeforeSend,
    tokens: int,
    after: int,
    *,
    stop_reason: str,
    summary_bytes: int,
    output_tokens: int | None = None,
    reasoning_tokens: int | None = None,
    max_output_tokens: int | None = None,
) -> dict[str, Any]:
    """The input of CompactionResult. `tokens` is the prompt before and `after` the one with the summary in place."""
    return {
        "stop_reason": stop_reason,
        "summary_bytes": summary_bytes,
        "output_tokens": output_tokens,
        "reasoning_tokens": reasoning_tokens,
        "max_output_tokens": max_output_tokens,
        "tokens_before": tokens,
        "tokens_after": after,
        "auto": before.ladder["auto"],
        "compactions_in_a_row": max(1, before.state.compactions_in_a_row),
    }
