"""A diff as data, so that text, JSON and Markdown print the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Effect(StrEnum):
    """What a change of a policy does to its decisions."""

    SAME = "same"
    """Proven: no input is decided otherwise."""
    DIFFERENT = "different"
    """An input is shown on which the decisions differ."""
    UNDECIDED = "not decided"
    INCOMPARABLE = "not comparable"
    """The old one cannot be used: it is written for another version, or broken."""
    ADDED = "added"
    REMOVED = "removed"
    NONE = "decides nothing"
    """A document that other policies or commands use."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A value of a policy in a sentence: each format sets it off in its own way."""

    text: str


Words = tuple[str | Quoted, ...]
"""A sentence in pieces, so that a value in it is never taken for part of the sentence."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a document, in words. `what` is added, removed, changed, moved."""

    what: str
    words: Words

    @property
    def text(self) -> str:
        """The sentence, values between backticks."""
        return "".join(one if isinstance(one, str) else f"`{one.text}`" for one in self.words)


@dataclass(frozen=True, slots=True)
class Witness:
    """An input, and what both sides decide on it."""

    input: Mapping[str, Any]
    old: Mapping[str, Any]
    new: Mapping[str, Any]
    old_rule: str
    new_rule: str


@dataclass(frozen=True, slots=True)
class Span:
    """Windows `low` to `high` in which a threshold differs, and by how much: new less old, in tokens.

    `least` and `most` are the ends of the difference, `at_low` and `at_high` what it is at both ends.
    """

    low: int
    high: int
    least: float
    most: float
    at_low: float
    at_high: float


@dataclass(frozen=True, slots=True)
class PolicyDiff:
    """One document on both sides.

    `spans` is for ladders: threshold to where it differs. `why` says why an effect is not decided, `assumes` what a
    proof rests on.
    """

    name: str
    kind: str
    changes: tuple[Change, ...]
    effect: Effect
    witness: Witness | None = None
    spans: Mapping[str, tuple[Span, ...]] | None = None
    windows: tuple[int, int] | None = None
    why: str = ""
    assumes: tuple[str, ...] = ()
    old_name: str | None = None
    """The name on the old side where it is another one."""


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything between two sides. `policies` holds only documents that changed."""

    old: str
    new: str
    policies: tuple[PolicyDiff, ...]
    bundle: tuple[Change, ...] = ()
    """Changes of which policy serves."""
    unchanged: int = 0
    wrong: tuple[str, ...] = ()
    """What is wrong with the old side besides its documents."""
    missing: tuple[str, ...] = ()
    """What could not be worked out because an extra is not installed."""
