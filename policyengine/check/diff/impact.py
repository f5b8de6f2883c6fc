"""What a change does to recorded sessions: which decisions become others, and by which rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policyengine.check.diff.sources import Side, completed
from policyengine.check.replay import Options, RoundReplay, SessionReplay, replay
from policyengine.check.replay_totals import routing_totals
from policyengine.kinds.loop import Loop
from policyengine.kinds.registry import KINDS
from policyengine.sessions.model import Session


@dataclass(frozen=True, slots=True)
class Changed:
    """Decisions that changed in the same way: what, from what by which rule, to what by which rule."""

    what: str
    old: str
    new: str
    old_rule: str
    new_rule: str
    count: int
    first: str
    """`FILE, round K`: the first of them."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The n-th compaction of a session: its round and count (tokens) on both sides; None where there is none."""

    session: str
    old_round: int | None
    new_round: int | None
    old_tokens: int | None
    new_tokens: int | None

    @property
    def moved(self) -> int | None:
        """By how many rounds it comes later (earlier where negative)."""
        return None if self.old_round is None or self.new_round is None else self.new_round - self.old_round


@dataclass(frozen=True, slots=True)
class Impact:
    """What changes over all sessions. `decisions` counts what both sides decided, `changed` what differs."""

    sessions: int
    rounds: int
    decisions: int
    changed: int
    groups: tuple[Changed, ...]
    compactions: tuple[Compaction, ...]
    old_routing: dict[str, Any]
    new_routing: dict[str, Any]

    @property
    def share(self) -> float:
        """Changed decisions / decisions."""
        return self.changed / self.decisions if self.decisions else 0.0


_NEEDS: Mapping[str, tuple[str, ...]] = {
    "tier": ("Ladder", "TokenEstimate"),
    "compaction": (
        "Ladder", "TokenEstimate", "Breaker", "CompactionGate", "CompactionResult", "CompressionTriggers",
    ),
    "tip": ("Tips", "Ladder", "TokenEstimate"),
    "routing": ("Routing", "PromptClass", "ToolCatalogue", "ModelCatalogue"),
    "directive": ("Directives", "ToolCatalogue"),
}  # fmt: skip
"""The kinds of policy that a decision of a round rests on."""

_BROKEN, _GONE = "not comparable", "no policy"


def impact(old: Side, new: Side, sessions: Iterable[Session], options: Options) -> Impact:
    """Replay sessions under both sides. Kinds that a side lacks are the built-in ones. Raises InputError.

    What rests on a policy that cannot be used on the old side, or is missing on the new one, counts as changed.
    """
    loops = [Loop(completed(side.bundle)) for side in (old, new)]
    broken, gone = _broken(old, new), _kinds(old) - _kinds(new)
    pairs = [(replay(session, loops[0], options), replay(session, loops[1], options)) for session in sessions]
    seen: Counter[tuple[str, str, str, str, str]] = Counter()
    first: dict[tuple[str, str, str, str, str], str] = {}
    decisions = rounds = 0
    for one, two in pairs:
        for before, after in zip(one.rounds, two.rounds, strict=True):
            rounds += 1
            for what, (was, by), (now, why) in _decided(before, after):
                decisions += 1
                was = _BROKEN if broken.intersection(_NEEDS[what]) else was
                now = _GONE if gone.intersection(_NEEDS[what]) else now
                if was != now:
                    key = (what, was, now, by, why)
                    seen[key] += 1
                    first.setdefault(key, f"{one.session.path}, round {before.round.index}")
    groups = tuple(Changed(*key, count, first[key]) for key, count in seen.most_common())
    return Impact(
        len(pairs),
        rounds,
        decisions,
        sum(seen.values()),
        groups,
        tuple(moved for one, two in pairs for moved in _compactions(one, two)),
        routing_totals(one for one, _ in pairs),
        routing_totals(two for _, two in pairs),
    )


def _kinds(side: Side) -> set[str]:
    """The kinds of which a side has a policy."""
    return {kind for kind in KINDS if side.bundle.of_kind(kind)}


def _broken(old: Side, new: Side) -> set[str]:
    """The kinds whose policy on the old side cannot be used."""
    use = old.bundle.use
    unusable = {kind for kind, name in old.broken if use.get(kind, name) == name or kind not in _kinds(old)}
    return unusable | (_kinds(new) - _kinds(old) if old.wrong else set())


def _decided(old: RoundReplay, new: RoundReplay) -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """What is decided in a round, on both sides: its name, and each side's decision and rule."""
    yield "tier", (old.before.tier, _rule(old, "Ladder")), (new.before.tier, _rule(new, "Ladder"))
    yield "compaction", _compaction(old), _compaction(new)
    yield "tip", _tip(old), _tip(new)
    if old.after is not None and new.after is not None:
        one, two = old.after, new.after
        yield "routing", _said(one.routing, "decision"), _said(two.routing, "decision")
        yield "directive", _said(one.directive, "directive"), _said(two.directive, "directive")


def _compaction(row: RoundReplay) -> tuple[str, str]:
    if not row.before.compact:
        return "none", row.before.reason
    return ("forced" if row.before.forced else "auto"), row.before.reason


def _tip(row: RoundReplay) -> tuple[str, str]:
    return row.before.tip["tip"] or "none", _rule(row, "Tips")


def _said(outcome: Any, name: str) -> tuple[str, str]:
    return str(outcome[name]), str(outcome.get("reason", ""))


def _rule(row: RoundReplay, kind: str) -> str:
    made = next((one for one in row.made if one.policy.kind.name == kind), None)
    if made is None:
        return ""
    return ", ".join(made.decision.rules) or ("on_error" if made.decision.errors else "default")


def _compactions(old: SessionReplay, new: SessionReplay) -> list[Compaction]:
    """Compactions paired in their order, where they differ."""
    pairs: list[Compaction] = []
    before, after = old.compactions, new.compactions
    for index in range(max(len(before), len(after))):
        one, two = (_at(rows, index) for rows in (before, after))
        if (one and one.round.index) != (two and two.round.index):
            pairs.append(
                Compaction(
                    old.session.path,
                    one.round.index if one else None,
                    two.round.index if two else None,
                    one.tokens if one else None,
                    two.tokens if two else None,
                )
            )
    return pairs


def _at(rows: Sequence[RoundReplay], index: int) -> RoundReplay | None:
    return rows[index] if index < len(rows) else None
