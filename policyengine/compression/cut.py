"""Where a history may be cut: never between a call and its result, never inside a message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from policyengine.compression.history import Entry, Role


@dataclass(frozen=True, slots=True)
class Keep:
    """What stays as it is, by policy: the last `turns`, but no more than `max_share` of the history's bytes, and at
    least `min_rounds` rounds whatever that takes."""

    turns: int
    min_rounds: int
    max_share: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A history taken apart. Every entry is in exactly one of the four parts, each in its order.

    `pinned` is the task statement, `standing` what earlier compactions left, `span` what is summarised, `kept`
    what stays.
    """

    pinned: tuple[Entry, ...]
    standing: tuple[Entry, ...]
    span: tuple[Entry, ...]
    kept: tuple[Entry, ...]


def safe_points(entries: Sequence[Entry]) -> list[int]:
    """Indexes before which the history may be cut.

    Between two messages or after the last, and with no call on one side and its result on the other. A call of the
    last response that has no result yet still waits for one: it is never cut from the end.
    """
    reach = _reach(entries)
    points: list[int] = []
    furthest = -1
    for index in range(1, len(entries) + 1):
        furthest = max(furthest, reach[index - 1])
        if furthest < index and (index == len(entries) or _apart(entries[index - 1], entries[index])):
            points.append(index)
    return points


def split(roles: Sequence[Role], tokens: Callable[[int], int], keep_tokens: int, keep_last: int = 0) -> int:
    """Where an agent's own compaction cuts: messages before the index are summarised, those from it on are kept.

    `tokens` gives a message's size. As much of the end is kept as fits into `keep_tokens`, and in any case the last
    `keep_last` messages. A cut never stands between calls and their results. Only what is kept is looked at.
    """
    cut = len(roles) - keep_last
    while 0 < cut < len(roles) and roles[cut] == "tool":
        cut -= 1
    best, left = cut, keep_tokens
    for index in range(cut - 1, -1, -1):
        left -= tokens(index)
        if left < 0:
            break
        if roles[index] != "tool":
            best = index
    return best


def _apart(before: Entry, after: Entry) -> bool:
    return before.role != after.role or before.round != after.round


def _reach(entries: Sequence[Entry]) -> list[int]:
    """For each entry the index of the last one that it cannot be parted from: a call's result."""
    reach = list(range(len(entries)))
    calls: dict[str, int] = {}
    answered: set[int] = set()
    for index, entry in enumerate(entries):
        if entry.kind == "tool_call" and entry.call_id:
            calls[entry.call_id] = index
        elif entry.role == "tool" and entry.call_id in calls:
            call = calls[entry.call_id]
            reach[call] = max(reach[call], index)
            answered.add(call)
    last = max((entry.round for entry in entries if entry.role == "assistant"), default=None)
    for index, entry in enumerate(entries):
        if entry.kind == "tool_call" and entry.round == last and index not in answered:
            reach[index] = len(entries)
    return reach


def cut(entries: Sequence[Entry], keep: Keep) -> Cut | None:
    """Take a history apart; None where nothing can be cut."""
    points = safe_points(entries)
    rounds = _rounds_from(entries)
    candidates = [point for point in points if rounds[point] >= keep.min_rounds]
    if not candidates:
        return None
    turns = sorted({entry.turn for entry in entries})
    first = turns[-keep.turns] if keep.turns and len(turns) >= keep.turns else turns[0]
    from_turn = next((index for index, entry in enumerate(entries) if entry.turn >= first), 0)
    if keep.turns == 0:
        from_turn = len(entries)
    # The task stays whatever it weighs: its size is no reason to keep more.
    task = _task(entries)
    total = sum(entry.bytes for entry in entries if entry is not task)
    sizes = _sizes_from(entries)
    fitting = [p for p in candidates if p >= from_turn and sizes[p] <= keep.max_share * total]
    point = fitting[0] if fitting else candidates[-1]
    return _parts(entries, point)


def _parts(entries: Sequence[Entry], point: int) -> Cut | None:
    standing = tuple(entry for entry in entries[:point] if entry.summary)
    task = _task(entries)
    inside = task is not None and task in entries[:point] and not _has_older_summary(standing, task)
    pinned = (task,) if task is not None and inside else ()
    span = tuple(entry for entry in entries[:point] if not entry.summary and entry not in pinned)
    if not span:
        return None
    return Cut(pinned, standing, span, tuple(entries[point:]))


def _task(entries: Sequence[Entry]) -> Entry | None:
    return next((e for e in entries if e.role == "user" and e.kind == "text" and not e.summary), None)


def _has_older_summary(standing: Sequence[Entry], task: Entry) -> bool:
    """Whether a summary stands before what looks like the task: then the task statement is in that summary."""
    return any(entry.number < task.number for entry in standing)


def _rounds_from(entries: Sequence[Entry]) -> list[int]:
    """How many responses lie in `entries[i:]`."""
    seen: set[int] = set()
    counts = [0] * (len(entries) + 1)
    for index in range(len(entries) - 1, -1, -1):
        if entries[index].role == "assistant":
            seen.add(entries[index].round)
        counts[index] = len(seen)
    return counts


def _sizes_from(entries: Sequence[Entry]) -> list[int]:
    sizes = [0] * (len(entries) + 1)
    for index in range(len(entries) - 1, -1, -1):
        sizes[index] = sizes[index + 1] + entries[index].bytes
    return sizes
