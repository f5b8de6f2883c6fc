"""Sets of whole numbers as ranges: the windows at which something holds or fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ranges:
    """A set of whole numbers: disjoint ranges in order, both ends included, none touching the next."""

    parts: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[int, int]]) -> Ranges:
        """From ranges in any order; empty and overlapping ones are taken as they are meant."""
        found: list[tuple[int, int]] = []
        for low, high in sorted(part for part in parts if part[0] <= part[1]):
            if found and low <= found[-1][1] + 1:
                found[-1] = (found[-1][0], max(found[-1][1], high))
            else:
                found.append((low, high))
        return cls(tuple(found))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.parts)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __contains__(self, value: int) -> bool:
        return any(low <= value <= high for low, high in self.parts)

    def __len__(self) -> int:
        """How many numbers are in the set."""
        return sum(high - low + 1 for low, high in self.parts)

    def ends(self) -> list[int]:
        """The first and the last number of every range."""
        return list(dict.fromkeys(end for part in self.parts for end in part))

    @property
    def first(self) -> int:
        """The smallest number."""
        return self.parts[0][0]

    @property
    def last(self) -> int:
        """The largest number."""
        return self.parts[-1][1]

    def __and__(self, other: Ranges) -> Ranges:
        found = []
        mine, theirs = 0, 0
        while mine < len(self.parts) and theirs < len(other.parts):
            (low, high), (start, end) = self.parts[mine], other.parts[theirs]
            found.append((max(low, start), min(high, end)))
            if high < end:
                mine += 1
            else:
                theirs += 1
        return Ranges.of(found)

    def __sub__(self, other: Ranges) -> Ranges:
        found = []
        for low, high in self.parts:
            for start, end in other.parts:
                if end < low or start > high:
                    continue
                found.append((low, start - 1))
                low = end + 1
            found.append((low, high))
        return Ranges.of(found)

    def __or__(self, other: Ranges) -> Ranges:
        return Ranges.of((*self.parts, *other.parts))
