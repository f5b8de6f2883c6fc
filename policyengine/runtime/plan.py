"""What a model round is to be, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from policyengine.runtime.events import Tier, Tokens

Fallback: TypeAlias = Literal["tool_call_seen", "timeout", "error"]


class StoppedError(Exception):
    """The same thing came again and again: the turn ends, and nothing of the answer is kept."""


@dataclass(slots=True)
class Plan:
    """What a round is to be: by which model, because of what."""

    tier: Tier
    model: str
    reason: str
    continuation: bool = False
    terminal: bool = False


@dataclass(slots=True)
class Report:
    """What a round came to, for its decision records. Times in ms."""

    requested: Tier
    actual: Tier
    number: int
    tokens_source: str = "unknown"
    tier: str = "none"
    prefix_changed: str = "none"
    ttft: dict[str, int | None] = field(default_factory=dict)
    fast_tokens: int | None = None
    fast_source: str | None = None
    fallback_reason: Fallback | None = None
    rt_ms: int = 0
    tokens: Tokens = field(default_factory=lambda: Tokens(None, None))
    compacted: bool = False
    prompt_estimate: int | None = None

    response: Literal["text", "tool_call"] | None = None
    model_requested: str | None = None
    model_actual: str | None = None

    def facts(self) -> dict[str, Any]:
        """What the round was, for the records that tell of rounds (`ROUND_KINDS`)."""
        known = self.tokens.prompt_source == "usage"
        return {
            "tier_actual": self.actual,
            "model_requested": self.model_requested,
            "model_actual": self.model_actual,
            "response": self.response,
            "tokens_source": self.tokens_source if self.tokens_source in ("usage", "estimate") else "unknown",
            "prompt_tokens": self.tokens.prompt if known else None,
            "cached_tokens": self.tokens.cached,
            "output_tokens": self.tokens.output if self.tokens.output_source == "usage" else None,
            "prefix_changed": self.prefix_changed,
            "total_rt_ms": self.rt_ms,
        }

    def routing(self) -> dict[str, Any]:
        """What became of the routing decision that led to the round."""
        return {
            "fast_ttft_ms": self.ttft.get("fast"),
            "primary_ttft_ms": self.ttft.get("primary"),
            "fast_tokens_consumed": self.fast_tokens,
            **({"tokens_source": self.fast_source} if self.fast_source else {}),
            "fallback_triggered": self.fallback_reason is not None,
            "fallback_reason": self.fallback_reason,
        }
