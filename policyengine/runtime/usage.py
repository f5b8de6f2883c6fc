"""Tokens of one attempt, in one sense for all providers, each number with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from policyengine.kinds.usage import prompt_tokens
from policyengine.runtime.events import Source, Tokens
from policyengine.runtime.provider import UsageReport


def as_usage(report: UsageReport) -> dict[str, int | None]:
    """As the functions of the loop take it."""
    return {
        "input": report.input,
        "cache_read": report.cache_read,
        "cache_write": report.cache_write,
        "output": report.output,
        "reasoning": report.reasoning,
    }


def as_recorded(taken: Tokens, contract: Mapping[str, Any]) -> Tokens:
    """Tokens in the one sense of a saved session: the output holds the reasoning, whatever the provider does."""
    if contract["reasoning"] == "inside" or taken.output_source != "usage" or not taken.reasoning:
        return taken
    return replace(taken, output=(taken.output or 0) + taken.reasoning)


def tokens(
    report: UsageReport | None,
    contract: Mapping[str, Any],
    *,
    finished: bool,
    prompt_estimate: int | None,
    output_estimate: int,
) -> Tokens:
    """What an attempt took.

    A stream that was cut off reports no output, or a placeholder: then the text that arrived says more. What is
    estimated is marked as such and is never 0 where something was sent or came.
    """
    given = report or UsageReport()
    prompt = prompt_tokens(as_usage(given), contract)
    prompt_source: Source = "usage" if prompt else "estimated"
    if not prompt:
        # No prompt is empty: a count of 0 is none.
        prompt = prompt_estimate
        prompt_source = "estimated" if prompt is not None else "unknown"
    output = given.output
    output_source: Source = "usage"
    if output is None or (not finished and output < output_estimate):
        output = output_estimate if output_estimate or finished else None
        output_source = "estimated" if output is not None else "unknown"
    return Tokens(prompt, output, given.cache_read, given.cache_write, given.reasoning, prompt_source, output_source)
