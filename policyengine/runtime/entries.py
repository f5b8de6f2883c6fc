"""The adapter's messages as `policyengine.compression` takes a history: entries to cut, rounds to index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from policyengine.compression.history import Entry
from policyengine.runtime.messages import Call, Image, Message, Result, Text, Thinking
from policyengine.sessions.content import fingerprint, size, to_json
from policyengine.sessions.model import Part, PartKind, Round, ToolCall, ToolResult


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
        self._waiting: tuple[Part, ...] = ()

    def extend(self, messages: Sequence[Message]) -> None:
        """Add messages."""
        results = {b.call_id: b for m in messages for b in m.blocks if isinstance(b, Result)}
        for message in messages:
            index = self._before + len(self.rounds) + 1
            calls = {b.id: _call(b, results.get(b.id)) for b in message.blocks if isinstance(b, Call)}
            if message.role == "user" and not message.summary:
                self._turn += bool(self.rounds)
            parts = tuple(_part(block) for block in message.blocks)
            for block, part in zip(message.blocks, parts, strict=True):
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
            if message.role == "assistant" and not message.summary:
                done = Round(index, self._turn, 0, None, None, self._waiting, parts, tuple(calls.values()), False)
                self.rounds.append(done)
                self._waiting = ()
            elif not message.summary:
                self._waiting = (*self._waiting, *parts)
            self.ends.append(len(self.entries))

    def all_rounds(self) -> list[Round]:
        """The rounds, the one that waits for its answer among them."""
        if not self._waiting:
            return self.rounds
        index = self._before + len(self.rounds) + 1
        return [*self.rounds, Round(index, self._turn, 0, None, None, self._waiting, (), (), False)]


def _part(block: Text | Image | Thinking | Call | Result) -> Part:
    if isinstance(block, Text):
        return Part("text", block.text, size(block.text))
    if isinstance(block, Image):
        return Part("image", None, len(block.data))
    if isinstance(block, Thinking):
        return Part("thinking", block.text, size(block.text))
    if isinstance(block, Call):
        text = block.raw_arguments if block.raw_arguments is not None else to_json(dict(block.arguments))
        return Part("tool_call", text, size(text), block.id)
    text = "\n".join(part.text for part in block.parts if isinstance(part, Text))
    return Part("tool_result", text, size(text), block.call_id)


def _call(block: Call, result: Result | None) -> ToolCall:
    arguments = block.raw_arguments if block.raw_arguments is not None else dict(block.arguments)
    found = None
    if result is not None:
        parts = tuple(replace(_part(part), kind=_RESULT) for part in result.parts)
        found = ToolResult(parts, sum(part.bytes for part in parts), result.error, result.cancelled)
    return ToolCall(block.id, block.name, arguments, fingerprint(arguments), found)


_RESULT: Final[PartKind] = "tool_result"
