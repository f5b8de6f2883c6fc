"""The two choices that a turn carries: a model that somebody asked for, and whether the fast model sums up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Moment: TypeAlias = Literal["user_turn", "skill_model", "batch_done", "fallback", "user_retry", "model_switched"]
SummaryTier: TypeAlias = Literal["fast", "primary"]


@dataclass(slots=True)
class Choices:
    """Explicit model and summary tier; None where there is no choice."""

    explicit_model: str | None = None
    summary_tier: SummaryTier | None = None

    def at(self, moment: Moment, *, model: str | None = None, tier: SummaryTier | None = None) -> None:
        """What becomes of them at a moment. `model` comes with `skill_model`, `tier` with `batch_done`."""
        match moment:
            case "user_turn":
                self.explicit_model = None
                self.summary_tier = None
            case "skill_model":
                self.explicit_model = model
            case "batch_done":
                self.summary_tier = tier
            case "fallback" | "user_retry":
                self.summary_tier = "primary"
            case "model_switched":
                self.summary_tier = None
