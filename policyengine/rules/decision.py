"""A decision and why: pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from policyengine.rules.frozen import FrozenDict


class RuleStatus(StrEnum):
    """What became of a rule in one decision."""

    MATCHED = "matched"
    FALSE = "false"
    SKIPPED = "skipped"
    """Not looked at, because an earlier rule had already decided."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """An expression that failed. `message` never holds a value of the input."""

    where: str
    """`rule ID`, `derived NAME`, `output NAME`, or `policy` where nothing could be looked at."""
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One rule in a trace."""

    rule: str
    status: RuleStatus
    when: str
    values: Mapping[str, Any] = field(default_factory=FrozenDict)
    """The values the condition saw, by the text that read them (`tokens`, `batch.size()`)."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy decided.

    `outcome` holds the decided fields; for hit policy `collect` it is `{"matches": [...]}`. `rules` are the ids
    that matched (empty when the default applied). `errors` is empty unless something failed to evaluate; the
    outcome is then the policy's `on_error`. `trace` and `derived` are filled on request only.
    """

    policy: str
    version: str
    outcome: Mapping[str, Any]
    rules: tuple[str, ...] = ()
    errors: tuple[EvaluationError, ...] = ()
    trace: tuple[Step, ...] = ()
    derived: Mapping[str, Any] = field(default_factory=FrozenDict)
