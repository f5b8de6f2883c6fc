"""The history that a compaction works on: its entries in order, whatever the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from policyengine.sessions.model import Part, PartKind, Session, ToolCall

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
    ended = {item.round: item for item in session.recorded_compactions}
    numbers = _Numbers(session)
    context: list[Entry] = []
    for index in range(1, at + 1):
        waiting: Iterable[Part] = session.unsent if index == last else session.rounds[index - 1].added
        compaction = ended.get(index)
        turn = session.rounds[min(index, last - 1) - 1].turn if session.rounds else 1
        starts = compaction is not None and index < at
        if compaction is not None and index == at:
            waiting = compaction.pending
        elif compaction is not None and whole:
            repeated = {(part.kind, part.call_id, part.text) for part in compaction.pending}
            fresh = (part for part in waiting if (part.kind, part.call_id, part.text) not in repeated)
            context += numbers.parts(compaction.pending, index, turn, False)
            context += (entry for entry in numbers.parts(fresh, index, turn, True) if not entry.summary)
            waiting = ()
        elif starts:
            context = []
        context += numbers.parts(waiting, index, turn, starts)
        if index < at:
            context += numbers.output(index, turn)
    return tuple(context)


class _Numbers:
    """Gives entries their numbers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.next = 1
        self.errors = {
            call.id: call.result.error for item in session.rounds for call in item.calls if call.result is not None
        }

    def parts(self, parts: Iterable[Part], round: int, turn: int, after_compaction: bool) -> Iterator[Entry]:
        """What a send carries anew. The first text after a compaction is its summary."""
        for part in parts:
            is_result = part.kind == "tool_result" or part.call_id is not None
            is_summary = after_compaction and part.kind == "text" and not is_result
            after_compaction = after_compaction and not is_summary
            yield Entry(
                self._number(),
                "tool" if is_result else "user",
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
            yield Entry(self._number(), "assistant", part.kind, part.text, part.bytes, index, turn, call, part.call_id)

    def _number(self) -> int:
        self.next += 1
        return self.next - 1
