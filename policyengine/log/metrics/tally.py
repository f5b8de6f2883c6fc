"""What metrics are worked out from: counts and lists over records that can be made in pieces and put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from policyengine.log.fields import ROUND_KINDS

Row = Mapping[str, Any]


class RoundFacts(NamedTuple):
    """What one round came to, by the names of its record's fields. None where the records do not say."""

    turn_id: str | None
    time: str | None
    tier_actual: str | None
    response: str | None
    prompt_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    total_rt_ms: int | None
    prefix_changed: str | None
    half_written_texts: int | None
    render_ms: int | None
    kind: str
    """`Routing` where it answers a batch (a continuation)."""

    @property
    def continuation(self) -> bool:
        """Whether it answers a batch."""
        return self.kind == _CONTINUATION


_CONTINUATION = "Routing"
_NAMES = RoundFacts._fields

Facts = tuple[Any, ...]
"""The same as a plain tuple: there are many of them, and they travel between processes."""


def _together(one: Facts, other: Facts) -> Facts:
    """Both records of a round; where both say something, the first one counts."""
    if one[-1] != _CONTINUATION and one[:-1] == other[:-1]:
        return other
    kind = one[-1] if one[-1] == _CONTINUATION else other[-1]
    return (*(a if a is not None else b for a, b in zip(one[:-1], other[:-1], strict=True)), kind)


@dataclass(slots=True)
class Tally:
    """Counts over some records. `merge` puts two together; the order does not matter but for conflicting facts."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records by kind and policy."""
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
    compaction_ms: list[int] = field(default_factory=list)
    _rounds: dict[tuple[Any, ...], Facts] = field(default_factory=dict)
    _view: list[RoundFacts] | None = None

    def count(self, kind: str, policy: str, records: int = 1) -> None:
        """Count records that say nothing else that a metric needs."""
        self.kinds[kind, policy] += records

    def add(self, rows: Iterable[Row]) -> None:
        """Take in records."""
        for row in rows:
            kind = row.get("kind", "")
            self.kinds[kind, row.get("policy", "")] += 1
            self.look(kind, row)

    def look(self, kind: str, row: Row) -> None:
        """Take in what a record says beyond being one."""
        get = row.get
        if kind in ROUND_KINDS:
            session, number = get("session_id"), get("round")
            # Without a session nothing tells whether two records are about the same round.
            whole = session is not None and number is not None
            key = (session, number) if whole else (None, get("seq"), get("time"))
            facts = tuple(map(get, _NAMES))
            self._view = None
            known = self._rounds.get(key)
            self._rounds[key] = facts if known is None else _together(known, facts)
        if kind == "Routing":
            self._routing(get)
        elif kind == "Directives":
            self.skips += get("decision") == "skip"
        elif kind == "PromptClass":
            if get("more_detail"):
                self.more_detail[get("previous_decision")] += 1
        elif kind == "CompactionResult":
            self.compactions[get("compaction_outcome")] += 1
            if (taken := get("compaction_rt_ms")) is not None:
                self.compaction_ms.append(taken)
        if lost := get("dropped"):
            self.dropped += lost
        if get("error_count"):
            self.errors += 1

    def _routing(self, get: Callable[[str], Any]) -> None:
        self.routed[get("decision"), get("veto_reason")] += 1
        if get("decision") == "fast" and (fell_back := get("fallback_triggered")) is not None:
            self.tried += 1
            if fell_back:
                self.fallbacks[get("fallback_reason")] += 1
                self.wasted_tokens += get("fast_tokens_consumed") or 0

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

    def of_kind(self, kind: str) -> int:
        """Records of one kind."""
        return sum(number for (name, _), number in self.kinds.items() if name == kind)

    @property
    def rounds(self) -> list[RoundFacts]:
        """Every round, once."""
        if self._view is None:
            self._view = list(map(RoundFacts._make, self._rounds.values()))
        return self._view

    @property
    def days(self) -> list[str]:
        """The days (UTC) on which there were rounds, in order."""
        return sorted({facts[1][:10] for facts in self._rounds.values() if facts[1] is not None})
