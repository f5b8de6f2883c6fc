"""A decision and why: pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from policyengine.rules.frozen import FrozenDict

INPUT = "input"
"""Where an error is of an input that does not fit its schema."""


class RuleStatus(StrEnum):
    """What became of a rule in one decision."""

    MATCHED = "matched"
    FALSE = "false"
    SKIPPED = "skipped"
    """Not looked at, because an earlier rule had already decided, or the input did not fit its schema."""
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """An expression that failed, or an input that does not fit. `message` never holds a value of the input."""

    where: str
    """`input` where the input does not fit its schema, `rule ID`, `derived NAME`, `output NAME`, or `policy` where
    nothing could be looked at."""
    message: str

    @property
    def clash(self) -> bool:
        """Whether nothing failed to evaluate: two rules match, of which only one may."""
        return self.message.startswith("only one rule may match")


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
    of the rules that matched; a default that has an id is the last rule, and is named like any other. `rules` is empty
    where a default without an id applied, where nothing matched (`collect`), and where there are `errors`. `errors` is
    empty unless the input does not fit the policy's input schema or something failed to evaluate; the outcome is then
    the policy's `on_error`. `trace` and `derived` are filled on request only.
    """

    policy: str
    version: str
    outcome: Mapping[str, Any]
    rules: tuple[str, ...] = ()
    errors: tuple[EvaluationError, ...] = ()
    trace: tuple[Step, ...] = ()
    derived: Mapping[str, Any] = field(default_factory=FrozenDict)
