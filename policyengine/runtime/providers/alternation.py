"""User and assistant in turn, where a provider insists: what the history-repair policy decides, done to a request.

The history itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, TypeAlias

from policyengine.runtime.messages import Block, Message, Result, Text

Gap: TypeAlias = Literal["inject_empty_assistant", "tolerate"]


def alternating(messages: Sequence[Message], gap: Gap, filler: str) -> list[Message]:
    """The messages with no two of one side in a row, a user first and a user last; as they are with `tolerate`.

    `filler` is the text of a message that nobody wrote. A batch's results count as the user's side and may be
    followed by nothing but an answer.
    """
    if gap == "tolerate":
        return list(messages)
    said: list[Message] = []
    for message in messages:
        before = said[-1] if said else None
        if before is None:
            if message.role == "assistant":
                said.append(Message("user", (Text(filler),)))
        elif message.role == "assistant" == before.role:
            said[-1] = replace(before, blocks=before.blocks + message.blocks)
            continue
        elif message.role == "user" and before.role != "assistant":
            said.append(Message("assistant", (Text(filler),)))
        said.append(message)
    if said and said[-1].role == "assistant":
        said.append(Message("user", (Text(filler),)))
    return said


def turns(messages: Sequence[Message]) -> Iterator[tuple[Literal["user", "assistant"], list[Block]]]:
    """The messages as turns of the two sides, for APIs that carry results in user turns; results stand first."""
    for assistant, group in groupby(messages, lambda message: message.role == "assistant"):
        blocks = [block for message in group for block in message.blocks]
        if assistant:
            yield "assistant", blocks
        else:
            yield "user", sorted(blocks, key=lambda block: not isinstance(block, Result))
