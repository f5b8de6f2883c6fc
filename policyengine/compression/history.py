"""The history that a compaction works on: its entries in order, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from policyengine.sessions.model import Part, PartKind, RecordedCompaction, Session, ToolCall

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of a history.

    `number` is its place in the whole session, from 1; it never changes, so that a summary can cite it. `call` is
    set on a tool call, `call_id` on a call and its result. `summary` marks what an earlier compaction left.
    `bytes` is its UTF-8 size as the model gets it.
    """

    number: int
    role: Role
    kind: PartKind
    text: str | None
    bytes: int
    round: int
    turn: int
    call: ToolCall | None = None
    call_id: str | None = None
    error: bool | None = None
    summary: bool = False


def entries(session: Session, at: int | None = None, *, whole: bool = False) -> tuple[Entry, ...]:
    """What the send of round `at` (1-based) carries where nothing is compacted before it; without it, all there is.

    Only the context that this send belongs to counts: what a recorded compaction took away before is gone. With
    `whole`, recorded compactions are taken for not having happened, and their summaries are left out. The numbers
    run over the whole session either way.
    """
    last = len(session.rounds) + 1
    at = last if at is None else min(at, last)
    context = Context(session)
    for index in range(1, at):
        if context.compaction(index) is None:
            context.waits(index)
        elif whole:
            context.uncompacted(index)
        else:
            context.compacted(index)
        context.answered(index)
    context.waits(at)
    return tuple(context.entries)


class Context:
    """The context of a recorded session as it grows, one send and one answer after the other, in their order."""

    def __init__(self, session: Session) -> None:
        self.entries: list[Entry] = []
        """What the context holds."""
        self._session = session
        self._compactions = {item.round: item for item in session.recorded_compactions}
        self._cleared = frozenset(session.cleared)
        self._numbers = _Numbers(session)

    def compaction(self, index: int) -> RecordedCompaction | None:
        """The compaction that the recording holds before the send of a round."""
        return self._compactions.get(index)

    def waits(self, index: int) -> list[Entry]:
        """Take what waits for the send of a round, before any compaction; what of the context is new."""
        if index in self._cleared:
            self.entries = []
        compaction = self.compaction(index)
        fresh = list(self._numbers.parts(compaction.pending if compaction else self._added(index), *self._at(index)))
        self.entries += fresh
        return fresh

    def compacted(self, index: int, *, waited: bool = False) -> None:
        """Put what the recorded compaction before a round left in the context's place.

        What it kept is what it was before: who said it, in which round and turn. `waited` says that the context holds
        already what waited for the send.
        """
        compaction = self._compactions[index]
        if index in self._cleared:
            self.entries = list(self._numbers.parts(self._added(index), *self._at(index)))
            return
        before = list(self.entries)
        if not waited:
            # What is gone takes no number.
            number = self._numbers.next
            before += self._numbers.parts(compaction.pending, *self._at(index))
            self._numbers.next = number
        fresh = list(self._numbers.parts(self._added(index), *self._at(index), after_compaction=True))
        self.entries = _with_kept(fresh, before)

    def uncompacted(self, index: int) -> None:
        """Take what waited for the send of a round as if the recorded compaction before it had not happened."""
        pending = self._compactions[index].pending
        repeated = {(part.kind, part.call_id, part.text) for part in pending}
        fresh = [part for part in self._added(index) if (part.kind, part.call_id, part.text) not in repeated]
        self.entries += self._numbers.parts(pending, *self._at(index))
        after = self._numbers.parts(fresh, *self._at(index), after_compaction=True)
        self.entries += [entry for entry in after if not entry.summary]

    def replaced(self, summary: Entry, kept: Sequence[Entry]) -> None:
        """Put a summary and what is kept in the context's place: a compaction that no recording holds."""
        self.entries = [summary, *(replace(entry, number=self._numbers.take()) for entry in kept)]

    def answered(self, index: int) -> list[Entry]:
        """Take the answer of a round."""
        fresh = list(self._numbers.output(*self._at(index)))
        self.entries += fresh
        return fresh

    def number(self) -> int:
        """A number that no entry has."""
        return self._numbers.take()

    def _added(self, index: int) -> Sequence[Part]:
        rounds = self._session.rounds
        return rounds[index - 1].added if index <= len(rounds) else self._session.unsent

    def _at(self, index: int) -> tuple[int, int]:
        """A round and its turn."""
        rounds = self._session.rounds
        return index, rounds[min(index, len(rounds)) - 1].turn if rounds else 1


def _with_kept(fresh: list[Entry], before: Sequence[Entry]) -> list[Entry]:
    """A context after a compaction, in which entries that end the context before are again what they were."""
    if not before:
        return fresh
    key, best, end = _key(before[-1]), 0, 0
    for place, entry in enumerate(fresh):
        if entry.summary or _key(entry) != key:
            continue
        length = 1
        while (
            length <= place
            and length < len(before)
            and not fresh[place - length].summary
            and _key(fresh[place - length]) == _key(before[-1 - length])
        ):
            length += 1
        if length > best:
            best, end = length, place + 1
    kept = (
        replace(known, number=entry.number)
        for entry, known in zip(fresh[end - best : end], before[len(before) - best :], strict=True)
    )
    return [*fresh[: end - best], *kept, *fresh[end:]]


def _key(entry: Entry) -> tuple[PartKind, str | None, str | None, int]:
    return entry.kind, entry.call_id, entry.text, entry.bytes


class _Numbers:
    """Gives entries their numbers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.next = 1
        self.errors = {
            call.id: call.result.error for item in session.rounds for call in item.calls if call.result is not None
        }

    def parts(self, parts: Iterable[Part], round: int, turn: int, *, after_compaction: bool = False) -> Iterator[Entry]:
        """What a send carries anew. The first text after a compaction is its summary."""
        for part in parts:
            is_result = part.kind == "tool_result" or part.call_id is not None
            is_summary = after_compaction and part.kind == "text" and not is_result
            after_compaction = after_compaction and not is_summary
            yield Entry(
                self.take(),
                "assistant" if part.kind == "tool_call" else "tool" if is_result else "user",
                part.kind,
                part.text,
                part.bytes,
                round,
                turn,
                call_id=part.call_id,
                error=self.errors.get(part.call_id) if part.call_id else None,
                summary=is_summary,
            )

    def output(self, index: int, turn: int) -> Iterator[Entry]:
        """A response."""
        item = self.session.rounds[index - 1]
        calls = {call.id: call for call in item.calls}
        for part in item.output:
            call = calls.get(part.call_id) if part.call_id and part.kind == "tool_call" else None
            yield Entry(self.take(), "assistant", part.kind, part.text, part.bytes, index, turn, call, part.call_id)

    def take(self) -> int:
        """The next number."""
        self.next += 1
        return self.next - 1
