"""What a loop carries from one send to the next, and what was decided before a send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.kinds.made import Made

BREAKER_FIELDS = ("consecutive_failures", "rescues", "opened_at_ms", "probe_at_ms", "generation")
"""The fields of a state that are the breaker's, as its policy names them."""


@dataclass(frozen=True, slots=True)
class LoopState:
    """What one session's loop carries from decision to decision. Each decision returns the next one.

    - `consecutive_failures`, `rescues`, `opened_at_ms`, `probe_at_ms`, `generation`: the breaker (times are Unix time,
      ms).
    - `tier`: the tier of the last send; `tip`: the tip that was shown last.
    - `compactions_in_a_row`: sends in a row that were compacted.
    """

    consecutive_failures: int = 0
    rescues: int = 0
    opened_at_ms: int | None = None
    probe_at_ms: int | None = None
    generation: int = 0
    tier: str = "none"
    tip: str | None = None
    compactions_in_a_row: int = 0

    def breaker_input(self) -> dict[str, Any]:
        """The breaker's part, as its policy takes it."""
        return {name: getattr(self, name) for name in BREAKER_FIELDS}


@dataclass(frozen=True, slots=True)
class BeforeSend:
    """What was decided before a send.

    - `tokens`: size of the next prompt, None where it is unknown; `tokens_source`: usage, estimated or unknown.
    - `ladder`: the ladder's whole outcome (`tier`, `warn`, `auto`, `hard`, `compact_max_output_tokens`, ...; tokens).
    - `breaker`: closed, open or half_open; `rescue`: available or exhausted.
    - `forced`: whether the compaction has to happen; `compact`: whether it is to happen, and `reason` why.
    - `tip`: what to show the person (`tip`, `text`, `footer`).
    - `state`: what the next decision gets; `made`: the decisions in their order.
    """

    tokens: int | None
    tokens_source: str
    ladder: Mapping[str, Any]
    breaker: str
    rescue: str
    forced: bool
    compact: bool
    reason: str
    tip: Mapping[str, Any]
    state: LoopState
    made: tuple[Made, ...]
    trigger: str | None = None
    """What asks for a compaction before the ladder does, None where nothing does."""

    @property
    def tier(self) -> str:
        """The tier reached."""
        tier: str = self.ladder["tier"]
        return tier
