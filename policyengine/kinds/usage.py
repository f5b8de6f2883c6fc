"""What the tokens that a provider reported amount to, in one sense for all providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def prompt_tokens(usage: Mapping[str, int | None], contract: Mapping[str, Any]) -> int | None:
    """The prompt's size (tokens) in one sense for all providers: cache reads and writes included, once.

    `usage` has `input`, `cache_read`, `cache_write`; `contract` is the provider's entry under `usage:` in the model
    catalogue. None where the provider reported no input.
    """
    given = usage.get("input")
    if given is None:
        return None
    if contract["cached"] == "inside":
        return given
    return given + (usage.get("cache_read") or 0) + (usage.get("cache_write") or 0)


def next_prompt_tokens(usage: Mapping[str, int | None], contract: Mapping[str, Any]) -> int | None:
    """What a response leaves in the history (tokens): its prompt and its output, less reasoning not sent again."""
    prompt = prompt_tokens(usage, contract)
    if prompt is None:
        return None
    output = usage.get("output") or 0
    reasoning = usage.get("reasoning") or 0
    if contract["reasoning"] == "inside":
        # Providers that do not say how much was reasoning leave it in: too high is the safe side.
        return prompt + output - (0 if contract["reasoning_replayed"] else min(reasoning, output))
    return prompt + output + (reasoning if contract["reasoning_replayed"] else 0)
