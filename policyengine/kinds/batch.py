"""The tool calls of one round: what Directives and Routing are asked about them, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from policyengine.kinds.made import Made
from policyengine.kinds.prompt_size import Sizes
from policyengine.source.schema import load_schema


@dataclass(frozen=True, slots=True)
class BatchCall:
    """One tool call of a round and what came of it, as routing and directives see it.

    - `name`: the tool's own name; `tool` its name in the tool catalogue, where that is another one.
    - `kind`: what it does: read, search, fetch, edit, delete, move, execute, think or other.
    - `error`: its result carries an error; `cancelled`: it was cancelled.
    - `mcp`: it comes from an MCP server.
    - `declares_skip`, `declares_terminal`: its result says `skip_llm_round`, `result_is_terminal`.
    """

    name: str
    kind: str
    tool: str | None = None
    error: bool = False
    cancelled: bool = False
    mcp: bool = False
    declares_skip: bool = False
    declares_terminal: bool = False

    def as_input(self) -> dict[str, Any]:
        """As the policy Directives takes it."""
        return {
            **self.as_routed(),
            "mcp": self.mcp,
            "declares_skip": self.declares_skip,
            "declares_terminal": self.declares_terminal,
        }

    def as_routed(self) -> dict[str, Any]:
        """As the policy Routing takes it."""
        return {
            "name": self.name,
            "tool": self.name if self.tool is None else self.tool,
            "kind": self.kind,
            "error": self.error,
            "cancelled": self.cancelled,
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """The tool calls of one round and what the turn has come to, as routing and directives see them.

    - `calls`: the calls of the round, in their order.
    - `prompt`: what the person wrote in this turn; `prompt_known` false where that cannot be read.
    - `turn_kind`: who started the turn: interactive, notification, cron or subagent.
    - `strategy`: the person's setting: auto, always_primary or always_fast.
    - `explicit_model`: a model that a person or a skill asked for in this turn.
    - `activated`: fast routing is rolled out, and the kill switch has not turned it off.
    - `always_summarize`: no round is skipped after tools.
    - `unresolved_errors`: calls of the history whose latest outcome is an error.
    - `distinct_calls`: distinct calls of the turn; the same tool with the same arguments counts once.
    - `tool_output`: size of the turn's tool output.
    - `compacted_or_cleared`: this is the first batch after a compaction or a clear.
    """

    calls: Sequence[BatchCall]
    prompt: str = field(repr=False)
    prompt_known: bool = True
    turn_kind: str = "interactive"
    strategy: str = "auto"
    explicit_model: str | None = None
    activated: bool = True
    always_summarize: bool = False
    unresolved_errors: int = 0
    distinct_calls: int = 0
    tool_output: Sizes = field(default_factory=Sizes)
    compacted_or_cleared: bool = False


@dataclass(frozen=True, slots=True)
class AfterBatch:
    """What was decided after a batch.

    - `prompt_class`: query, action or analysis.
    - `directive`: outcome of Directives: `directive` is `skip` where no model round follows.
    - `routing`: outcome of Routing: `decision` is fast or primary, `reason` and `veto_reason` say why.
    - `made`: the decisions in their order.
    """

    prompt_class: str
    directive: Mapping[str, Any]
    routing: Mapping[str, Any]
    made: tuple[Made, ...]


def directives_input(batch: Batch, prompt_class: str) -> dict[str, Any]:
    """What Directives is asked after a batch."""
    return {
        "batch": _shown([call.as_input() for call in batch.calls], "directives"),
        "prompt_class": prompt_class,
        "always_summarize": batch.always_summarize,
    }


def routing_input(
    batch: Batch, *, tool_output_tokens: int, history_tokens: int, fast_auto: int | None
) -> dict[str, Any]:
    """What Routing is asked after a batch; numbers in tokens."""
    return {
        "prompt": batch.prompt,
        "turn_kind": batch.turn_kind,
        "strategy": batch.strategy,
        "explicit_model": batch.explicit_model,
        "activated": batch.activated,
        "batch": _shown([call.as_routed() for call in batch.calls], "routing"),
        "unresolved_errors": batch.unresolved_errors,
        "distinct_calls": batch.distinct_calls,
        "tool_output_tokens": tool_output_tokens,
        "history_tokens": history_tokens,
        "fast_auto": fast_auto,
        "compacted_or_cleared": batch.compacted_or_cleared,
    }


def _shown(calls: list[dict[str, Any]], asked: str) -> list[dict[str, Any]]:
    """The calls as a policy is shown them: all, or of more than its schema takes as many as it takes, in their order.

    One of each sort is among these, so that whether some call, or every call, is of a sort has the same answer. Of
    more sorts than the schema takes nothing is left out: the policy then decides nothing, and its conservative
    outcome holds.
    """
    most: int = load_schema(f"inputs/{asked}")["properties"]["batch"]["maxItems"]
    if len(calls) <= most:
        return calls
    sorts: dict[tuple[Any, ...], int] = {}
    for at, call in enumerate(calls):
        sorts.setdefault(tuple(call.values()), at)
    if len(sorts) > most:
        return calls
    kept = set(sorts.values())
    others = (at for at in range(len(calls)) if at not in kept)
    return [calls[at] for at in sorted([*kept, *islice(others, most - len(kept))])]
