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

    def about(self) -> dict[str, Any]:
        """Fields of every record of the round."""
        source = self.tokens_source
        return {
            "round": self.number,
            "tier": self.tier,
            "tokens_source": source if source in ("usage", "estimate") else "unknown",
            "prompt_tokens": self.tokens.prompt if self.tokens.prompt_source == "usage" else None,
            "cached_tokens": self.tokens.cached,
            "prefix_changed": self.prefix_changed,
            "total_rt_ms": self.rt_ms,
        }

    def routing(self) -> dict[str, Any]:
        """Fields of the routing decision that led to the round."""
        return {
            "tier_actual": self.actual,
            "fast_ttft_ms": self.ttft.get("fast"),
            "primary_ttft_ms": self.ttft.get("primary"),
            "fast_tokens_consumed": self.fast_tokens,
            "tokens_source": self.fast_source or self.about()["tokens_source"],
            "fallback_triggered": self.fallback_reason is not None,
            "fallback_reason": self.fallback_reason,
        }
