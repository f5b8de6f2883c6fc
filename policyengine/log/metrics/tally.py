"""What metrics are worked out from: counts and lists over records that can be made in pieces and put together."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter, itemgetter
from typing import Any

from policyengine.log.fields import ROUND_KINDS
from policyengine.log.lines import Row

_CONTINUATION = "Routing"
"""The kind that decides about the round that answers a batch."""

_KEY = attrgetter("session_id", "round")
_FACTS = attrgetter(
    "turn_id", "time", "tier_actual", "response", "prompt_tokens", "cached_tokens", "output_tokens", "total_rt_ms",
    "prefix_changed", "half_written_texts", "render_ms", "kind",
)  # fmt: skip
_Facts = tuple[Any, ...]
"""What one round came to: a plain tuple of these fields, for there are many of them, and they travel between processes.
The kind is `Routing` where the round answers a batch (a continuation)."""


_MARSHAL = 2
"""The last version of that format which does not look for objects that it has written before."""


class Rounds:
    """What the rounds of a tally came to, a column for each field of their records; None where they do not say."""

    def __init__(self, facts: Sequence[_Facts]) -> None:
        columns = list(zip(*facts, strict=True)) if facts else [()] * 12
        self.turn_id: Sequence[str | None] = columns[0]
        self.time: Sequence[str | None] = columns[1]
        self.tier_actual: Sequence[str | None] = columns[2]
        self.response: Sequence[str | None] = columns[3]
        self.prompt_tokens: Sequence[int | None] = columns[4]
        self.cached_tokens: Sequence[int | None] = columns[5]
        self.output_tokens: Sequence[int | None] = columns[6]
        self.total_rt_ms: Sequence[float | None] = columns[7]
        self.prefix_changed: Sequence[str | None] = columns[8]
        self.half_written_texts: Sequence[int | None] = columns[9]
        self.render_ms: Sequence[float | None] = columns[10]
        self.kind: Sequence[str] = columns[11]

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def summaries(self) -> Mapping[str | None, list[tuple[float, int | None]]]:
        """Time (ms) and cached tokens of each continuation that was answered with a text, by the tier that did.

        The quickest come first.
        """
        found: dict[str | None, list[tuple[float, int | None]]] = {}
        for kind, response, tier, taken, cached in zip(
            self.kind, self.response, self.tier_actual, self.total_rt_ms, self.cached_tokens, strict=True
        ):
            if kind == _CONTINUATION and response == "text" and taken is not None:
                found.setdefault(tier, []).append((taken, cached))
        for times in found.values():
            times.sort(key=itemgetter(0))
        return found

    @cached_property
    def turn_ms(self) -> list[float]:
        """How long the rounds of each turn took together (ms), in order."""
        turns: dict[str, float] = {}
        for turn, taken in zip(self.turn_id, self.total_rt_ms, strict=True):
            if turn is not None and taken is not None:
                turns[turn] = turns.get(turn, 0) + taken
        return sorted(turns.values())

    @cached_property
    def cached_shares(self) -> list[float]:
        """Cached tokens / prompt tokens of each round that reports both, in order."""
        both = zip(self.cached_tokens, self.prompt_tokens, strict=True)
        return sorted([cached / prompt for cached, prompt in both if prompt and cached is not None])


def _together(one: _Facts, other: _Facts) -> _Facts:
    """Both records of a round; where both say something, the first one counts."""
    if one[-1] != _CONTINUATION and one[:-1] == other[:-1]:
        return other
    kind = one[-1] if one[-1] == _CONTINUATION else other[-1]
    return (*(a if a is not None else b for a, b in zip(one[:-1], other[:-1], strict=True)), kind)


@dataclass(slots=True)
class Tally:
    """Counts over some records. `merge` puts two together; the order does not matter but for conflicting facts."""

    kinds: Counter[str] = field(default_factory=Counter)
    """Records by kind."""
    dropped: int = 0
    unreadable: int = 0
    errors: int = 0
    """Records of decisions in which something failed to evaluate."""
    routed: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    """Routing records by decision and veto."""
    tried: int = 0
    """Fast continuations that were sent, so that it is known whether they fell back; a replay sends none."""
    fallbacks: Counter[str | None] = field(default_factory=Counter)
    """Those that fell back, by reason."""
    wasted_tokens: int = 0
    skips: int = 0
    more_detail: Counter[str | None] = field(default_factory=Counter)
    """Prompts that ask for more detail, by what the turn before ended with."""
    compactions: Counter[str | None] = field(default_factory=Counter)
    compaction_ms: list[float] = field(default_factory=list)
    _rounds: dict[tuple[str, int], _Facts] = field(default_factory=dict)
    """By session and number."""
    _loose: list[_Facts] = field(default_factory=list)
    """Without a session nothing tells whether two records are about the same round: each is one."""
    _view: Rounds | None = None

    def add(self, rows: Sequence[Row]) -> None:
        """Take in records."""
        by_kind: dict[str, list[Row]] = {}
        for row in rows:
            by_kind.setdefault(row.kind, []).append(row)
            if row.dropped:
                self.dropped += row.dropped
            if row.error_count:
                self.errors += 1
        for kind, some in by_kind.items():
            self.kinds[kind] += len(some)
            take = _TAKES.get(kind)
            if take is not None:
                take(self, some)
        self._take_rounds([row for row in rows if row.kind in ROUND_KINDS])

    def _take_rounds(self, rows: Sequence[Row]) -> None:
        self._view = None
        rounds = self._rounds
        for key, facts in zip(map(_KEY, rows), map(_FACTS, rows), strict=True):
            if None in key:
                self._loose.append(facts)
            else:
                known = rounds.get(key)
                rounds[key] = facts if known is None else _together(known, facts)

    def _routing(self, rows: Sequence[Row]) -> None:
        self.routed.update([(row.decision, row.veto_reason) for row in rows])
        tried = [row for row in rows if row.decision == "fast" and row.fallback_triggered is not None]
        fell = [row for row in tried if row.fallback_triggered]
        self.tried += len(tried)
        self.fallbacks.update([row.fallback_reason for row in fell])
        self.wasted_tokens += sum(row.fast_tokens_consumed or 0 for row in fell)

    def _directives(self, rows: Sequence[Row]) -> None:
        self.skips += sum(row.decision == "skip" for row in rows)

    def _prompt_class(self, rows: Sequence[Row]) -> None:
        self.more_detail.update([row.previous_decision for row in rows if row.more_detail])

    def _compaction_result(self, rows: Sequence[Row]) -> None:
        self.compactions.update([row.compaction_outcome for row in rows])
        self.compaction_ms += [row.compaction_rt_ms for row in rows if row.compaction_rt_ms is not None]

    def __getstate__(self) -> dict[str, Any]:
        """For another process. There are so many rounds that marshal, at half the time of pickle, is noticed."""
        state = {own.name: getattr(self, own.name) for own in fields(self)}
        return {**state, "_rounds": marshal.dumps(self._rounds, _MARSHAL), "_view": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, marshal.loads(value) if name == "_rounds" else value)

    def merge(self, other: Tally) -> None:
        """Take in what another tally counted, which came after this one."""
        for own in fields(self):
            name = own.name
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "_rounds":
                both = mine.keys() & theirs.keys()
                merged = {key: _together(mine[key], theirs[key]) for key in both}
                mine.update(theirs)
                mine.update(merged)
            elif isinstance(mine, Counter):
                for key, number in theirs.items():
                    mine[key] += number
            elif name == "_view":
                self._view = None
            elif isinstance(mine, list):
                mine.extend(theirs)
            else:
                setattr(self, name, mine + theirs)

    @property
    def records(self) -> int:
        """Records counted."""
        return sum(self.kinds.values())

    @property
    def rounds(self) -> Rounds:
        """Every round, once."""
        if self._view is None:
            self._view = Rounds([*self._rounds.values(), *self._loose])
        return self._view

    @property
    def days(self) -> list[str]:
        """The days (UTC) on which there were rounds, in order."""
        return sorted({time[: len("2026-03-01")] for time in self.rounds.time if time is not None})


_TAKES: Mapping[str, Callable[[Tally, Sequence[Row]], None]] = {
    _CONTINUATION: Tally._routing,
    "Directives": Tally._directives,
    "PromptClass": Tally._prompt_class,
    "CompactionResult": Tally._compaction_result,
}
"""Kinds whose records say more than that they are there, and what the round came to."""
