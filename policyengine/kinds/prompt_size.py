"""How large a prompt is before it is sent: the sizes of its parts, and what TokenEstimate is asked about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a part of a history is: UTF-8 bytes of text and of JSON, number of images and documents.

    `tokens` is what a real tokenizer counted; what it counted is not in the bytes.
    """

    text_bytes: int = 0
    json_bytes: int = 0
    images: int = 0
    tokens: int = 0

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(
            self.text_bytes + other.text_bytes,
            self.json_bytes + other.json_bytes,
            self.images + other.images,
            self.tokens + other.tokens,
        )

    def as_input(self) -> dict[str, int]:
        """As the token estimate takes it."""
        sizes = {"text_bytes": self.text_bytes, "json_bytes": self.json_bytes, "images": self.images}
        return {**sizes, "tokens": self.tokens} if self.tokens else sizes


@dataclass(frozen=True, slots=True)
class Count:
    """What is known about the size of the next prompt before it is sent.

    - `added`: what was added since the last response; `history`: everything before that.
    - `last_prompt_tokens`: prompt plus output of the last response, tokens; 0 where there is none.
    - `usage_stale`: the last response is older than the last compaction.
    - `usage_window`: window of the model that reported it, tokens; None where it is unknown.
    """

    added: Sizes = field(default_factory=Sizes)
    history: Sizes = field(default_factory=Sizes)
    last_prompt_tokens: int = 0
    usage_stale: bool = False
    usage_window: int | None = None


def estimate_input(count: Count) -> dict[str, Any]:
    """What TokenEstimate is asked about a prompt."""
    return {
        "last_prompt_tokens": count.last_prompt_tokens,
        "usage_stale": count.usage_stale,
        "usage_window": count.usage_window,
        "added": count.added.as_input(),
        "history": count.history.as_input(),
    }
