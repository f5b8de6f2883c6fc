"""The context of a replay: what the next send carries, what a compaction would take of it, and what triggers are asked.

Every entry is looked at once. What a compaction that the recording lacks would have left takes the context's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policyengine.compression.compressor import Compressor
from policyengine.compression.cut import split
from policyengine.compression.history import Context, Entry, Role
from policyengine.compression.triggers import Watch
from policyengine.kinds.loop import Loop
from policyengine.kinds.prompt_size import Sizes
from policyengine.kinds.tokenizers import Count as TokenCount
from policyengine.sessions.model import Part, Session


def sizes(parts: Iterable[Part | Entry], count: TokenCount | None = None) -> Sizes:
    """How large parts are, for the token estimate. Thinking is not sent again and does not count.

    With `count`, a tokenizer, texts that the recording holds are counted by it.
    """
    text = data = images = tokens = 0
    for part in parts:
        if part.kind == "thinking":
            continue
        if part.kind in ("image", "document"):
            images += 1
        elif count is not None and part.text is not None:
            tokens += count(part.text)
        elif part.kind == "text":
            text += part.bytes
        else:
            data += part.bytes
    return Sizes(text, data, images, tokens)


@dataclass(slots=True)
class _Message:
    """Entries in a row that one side said in one round."""

    role: Role
    round: int
    summary: bool
    first: int
    """Place of its first entry in the context."""
    sizes: Sizes
    tokens: int | None = None
    """Its estimated size, once it was asked for."""


class ReplayContext:
    """The context of one session under a replay, taken along round by round."""

    def __init__(self, session: Session, loop: Loop) -> None:
        self._session = session
        self._loop = loop
        self._compressor = Compressor(loop) if loop.bundle.of_kind("CompressionTriggers") else None
        self._count_tokens, _ = loop.tokenizer()
        self._context = Context(session)
        self._begin()

    def waits(self, index: int) -> None:
        """Take what waits for the send of a round."""
        if index in self._session.cleared:
            self._begin(self._context.waits(index))
        else:
            self._take(self._context.waits(index))

    def answered(self, index: int) -> None:
        """Take the answer of a round."""
        self._take(self._context.answered(index))
        if self._watch is not None:
            self._watch.rounds([self._session.rounds[index - 1]])

    def recorded(self, index: int) -> None:
        """Go on with what the recorded compaction before a round left."""
        self._context.compacted(index, waited=True)
        self._begin(self._context.entries)

    def cut(self, keep_tokens: int) -> int:
        """How many messages a compaction would summarise; what waits for its first answer is never among them."""
        waiting = 0
        while waiting < len(self._messages) and _unanswered(self._messages[-1 - waiting]):
            waiting += 1
        return split(self._roles, lambda at: self._tokens(self._messages[at]), keep_tokens, waiting)

    def kept(self, cut: int) -> Sizes:
        """How large is what a compaction leaves as it is."""
        total = Sizes()
        for message in self._messages[cut:]:
            total = total + message.sizes
        return total

    def compacted(self, index: int, cut: int, summary_tokens: int) -> None:
        """Put a summary in the place of the first messages, before the send of a round."""
        first = Entry(self._context.number(), "user", "text", None, 0, index, self._turn(index), summary=True)
        self._context.replaced(first, self._tail(cut))
        self._begin(self._context.entries)
        self._messages[0].sizes, self._messages[0].tokens = Sizes(tokens=summary_tokens), None

    def triggers(self, cut: int, *, tokens: int, window: int | None) -> Mapping[str, Any] | None:
        """The input of CompressionTriggers; None where the bundle has no such policy."""
        if self._watch is None:
            return None
        return self._watch.facts(self._tail(cut), window=window, tokens=tokens)

    def _tokens(self, message: _Message) -> int:
        if message.tokens is None:
            message.tokens = self._loop.size_tokens(message.sizes)
        return message.tokens

    def _tail(self, cut: int) -> Sequence[Entry]:
        """The entries from a message on."""
        return self._context.entries[self._messages[cut].first :] if cut < len(self._messages) else ()

    def _begin(self, entries: Sequence[Entry] = ()) -> None:
        """Start with a context as it is, or with none."""
        self._messages: list[_Message] = []
        self._roles: list[Role] = []
        self._length = 0
        self._watch = Watch(self._compressor) if self._compressor is not None else None
        self._take(entries)
        if self._watch is not None:
            answers = {entry.round: None for entry in entries if entry.role == "assistant" and not entry.summary}
            self._watch.rounds(self._session.rounds[index - 1] for index in answers)

    def _take(self, entries: Sequence[Entry]) -> None:
        if self._watch is not None:
            self._watch.entries(entries)
        for entry in entries:
            size = sizes((entry,), self._count_tokens)
            last = self._messages[-1] if self._messages else None
            if last and (last.role, last.round, last.summary) == (entry.role, entry.round, entry.summary):
                last.sizes, last.tokens = last.sizes + size, None
            else:
                self._messages.append(_Message(entry.role, entry.round, entry.summary, self._length, size))
                self._roles.append(entry.role)
            self._length += 1

    def _turn(self, index: int) -> int:
        return self._session.rounds[index - 1].turn


def _unanswered(message: _Message) -> bool:
    return message.role == "user" and not message.summary
