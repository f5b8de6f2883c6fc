"""The adapter's messages as `policyengine.compression` takes a history: entries to cut, rounds to index."""

from __future__ import annotations

from collections.abc import Sequence

from policyengine.compression.history import Entry
from policyengine.runtime.messages import Call, Image, Message, Result, Text, Thinking
from policyengine.sessions.content import call_part, fingerprint, size
from policyengine.sessions.model import Part, Round, ToolCall, ToolResult


class Entries:
    """Messages as entries and rounds; more can be added at the end. Numbers go on from `rounds_before`.

    A call and its result are added together: no result of an earlier call may come later.
    """

    def __init__(self, rounds_before: int = 0) -> None:
        self.entries: list[Entry] = []
        self.rounds: list[Round] = []
        """The rounds that have their answer."""
        self.ends: list[int] = []
        """How many entries there are up to the end of each message."""
        self._before = rounds_before
        self._turn = 1
        self._asked = False
        self._waiting: tuple[Part, ...] = ()

    def extend(self, messages: Sequence[Message]) -> None:
        """Add messages."""
        results = {b.call_id: b for m in messages for b in m.blocks if isinstance(b, Result)}
        for message in messages:
            index = self._before + len(self.rounds) + 1
            calls = {b.id: _call(b, results.get(b.id)) for b in message.blocks if isinstance(b, Call)}
            if message.role == "user" and not message.summary:
                # Messages that had no answer in between are one turn: they went out together.
                self._turn += bool(self.rounds) and not self._asked
                self._asked = True
            elif message.role == "assistant":
                self._asked = False
            parts = [(block, part) for block in message.blocks for part in _parts(block)]
            for block, part in parts:
                self.entries.append(
                    Entry(
                        len(self.entries) + 1,
                        message.role,
                        part.kind,
                        part.text,
                        part.bytes,
                        index,
                        self._turn,
                        calls[block.id] if isinstance(block, Call) else None,
                        part.call_id,
                        block.error if isinstance(block, Result) else None,
                        message.summary,
                    )
                )
            said = tuple(part for _, part in parts)
            if message.role == "assistant" and not message.summary:
                done = Round(index, self._turn, 0, None, None, self._waiting, said, tuple(calls.values()), False)
                self.rounds.append(done)
                self._waiting = ()
            elif not message.summary:
                self._waiting = (*self._waiting, *said)
            self.ends.append(len(self.entries))

    def all_rounds(self) -> list[Round]:
        """The rounds, the one that waits for its answer among them."""
        if not self._waiting:
            return self.rounds
        index = self._before + len(self.rounds) + 1
        return [*self.rounds, Round(index, self._turn, 0, None, None, self._waiting, (), (), False)]


def _parts(block: Text | Image | Thinking | Call | Result) -> list[Part]:
    """A block as a reader of the saved session makes parts of it; a result's pictures are parts beside its text."""
    if isinstance(block, Text):
        return [Part("text", block.text, size(block.text))]
    if isinstance(block, Image):
        return [Part("image", None, len(block.data))]
    if isinstance(block, Thinking):
        return [Part("thinking", block.text, size(block.text))]
    if isinstance(block, Call):
        arguments = block.raw_arguments if block.raw_arguments is not None else dict(block.arguments)
        return [call_part(block.name, arguments, block.id)]
    text = "\n".join(part.text for part in block.parts if isinstance(part, Text))
    images = [part for part in block.parts if isinstance(part, Image)]
    return [
        Part("tool_result", text, size(text), block.call_id),
        *(Part("image", None, len(image.data), block.call_id) for image in images),
    ]


def _call(block: Call, result: Result | None) -> ToolCall:
    arguments = block.raw_arguments if block.raw_arguments is not None else dict(block.arguments)
    found = None
    if result is not None:
        parts = tuple(_parts(result))
        texts = sum(part.bytes for part in parts if part.kind == "tool_result")
        found = ToolResult(parts, texts, result.error, result.cancelled)
    return ToolCall(block.id, block.name, arguments, fingerprint(arguments), found)
