"""How outcomes moved when recorded inputs were decided again: counts that can be put together in any order."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

EXAMPLES = 3
"""Examples that are kept of each move."""

_MODULUS = 1 << 256

Example = tuple[str, str, int, int]
"""Time, session, round and seq of a record: enough to find it, and an order that does not depend on files."""


@dataclass(frozen=True, slots=True, order=True)
class Move:
    """The decided fields that changed, of one policy: `before` and `after` name them with their values."""

    policy: str
    before: str
    after: str


@dataclass(slots=True)
class Moves:
    """What came of deciding again. `merge` gives the same in any order."""

    records: int = 0
    same: int = 0
    changed: Counter[Move] = field(default_factory=Counter)
    examples: dict[Move, list[Example]] = field(default_factory=dict)
    masked: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Records that cannot be decided again, by policy and the masked fields that would be needed."""
    no_policy: Counter[str] = field(default_factory=Counter)
    """Records whose policy the bundle does not have."""
    unreadable: int = 0
    digest: int = 0
    """Sum of the digests of all new decisions: equal where the same records came to the same decisions."""

    @property
    def moved(self) -> int:
        """Records whose outcome changed."""
        return sum(self.changed.values())

    @property
    def decided(self) -> int:
        """Records that were decided again."""
        return self.same + self.moved

    def add_changed(self, move: Move, example: Example) -> None:
        """Count a record whose outcome changed."""
        self.changed[move] += 1
        kept = self.examples.setdefault(move, [])
        if len(kept) < EXAMPLES or example < kept[-1]:
            self.examples[move] = sorted([*kept, example])[:EXAMPLES]

    def add_digest(self, number: int) -> None:
        """Take in the digest of one decision."""
        self.digest = (self.digest + number) % _MODULUS

    def merge(self, other: Moves) -> None:
        """Take in what came of other records."""
        self.records += other.records
        self.same += other.same
        self.unreadable += other.unreadable
        self.masked.update(other.masked)
        self.no_policy.update(other.no_policy)
        for move, number in other.changed.items():
            self.changed[move] += number
            kept = heapq.merge(self.examples.get(move, ()), other.examples[move])
            self.examples[move] = list(kept)[:EXAMPLES]
        self.add_digest(other.digest)

    def as_json(self) -> dict[str, Any]:
        """As `--format json` prints it; the same whatever order it was counted in."""
        return {
            "records": self.records,
            "decided": self.decided,
            "same": self.same,
            "changed": self.moved,
            "unreadable": self.unreadable,
            "digest": f"{self.digest:064x}",
            "moves": [
                {
                    "policy": move.policy,
                    "from": move.before,
                    "to": move.after,
                    "count": number,
                    "examples": [
                        {
                            "time": time or None,
                            "session_id": session or None,
                            "round": round_ or None,
                            "seq": seq or None,
                        }
                        for time, session, round_, seq in self.examples[move]
                    ],
                }
                for move, number in self.ordered()
            ],
            "masked": [{"policy": p, "fields": fields, "count": n} for (p, fields), n in sorted(self.masked.items())],
            "no_policy": dict(sorted(self.no_policy.items())),
        }

    def ordered(self) -> list[tuple[Move, int]]:
        """The moves, most frequent first."""
        return sorted(self.changed.items(), key=lambda one: (-one[1], one[0]))


def example_of(record: Mapping[str, Any]) -> Example:
    """Where a record is found."""
    return (
        record.get("time") or "", record.get("session_id") or "", record.get("round") or 0, record.get("seq") or 0,
    )  # fmt: skip
