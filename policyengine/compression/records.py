"""What the artefact index is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["created", "modified", "deleted", "read"]


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file. Rounds are 1-based; None where it never happened. `via` says how it was touched: tool, patch, shell.

    `reads` and `writes` count calls. `symbols` are the definitions its edits touched, in order.
    """

    path: str
    reads: int = 0
    writes: int = 0
    created: bool = False
    deleted: bool = False
    symbols: tuple[str, ...] = ()
    first: int = 0
    last_read: int | None = None
    last_change: int | None = None
    via: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was done to it beyond reading."""
        return self.writes > 0 or self.deleted

    @property
    def status(self) -> Status:
        """What it counts as."""
        if self.deleted:
            return "deleted"
        if self.created:
            return "created"
        return "modified" if self.writes else "read"


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A command: how often it ran, in which round last, and whether it failed then (None: the format does not say)."""

    text: str
    runs: int
    last: int
    failed: bool | None


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error: its message, the codes in it, which tool said it, how often, in which round first and last.

    `key` is the call (tool and fingerprint of its arguments) that said it last; `resolved` says that the same call
    succeeded later.
    """

    message: str
    codes: tuple[str, ...]
    tool: str
    count: int
    first: int
    last: int
    key: tuple[str, str]
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision: a commit's message, a person's answer, or a sentence of the model's that says it decides."""

    text: str
    round: int
    source: Literal["commit", "answer", "statement"]


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """What the person wrote, and in which round it was sent first."""

    text: str
    round: int


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of the plan as it was last written down."""

    text: str
    done: bool
    round: int
