"""How large messages are, for the token estimate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policyengine.kinds.loop import Sizes
from policyengine.runtime.messages import Call, Image, Message, Result, Text
from policyengine.runtime.provider import ToolSpec
from policyengine.sessions.content import size, to_json


def message_sizes(message: Message) -> Sizes:
    """How large a message is for the token estimate. Thinking does not count: most providers do not take it back."""
    text = data = images = 0
    for block in message.blocks:
        if isinstance(block, Text):
            text += size(block.text)
        elif isinstance(block, Image):
            images += 1
        elif isinstance(block, Call):
            data += size(block.name) + (
                size(block.raw_arguments) if block.raw_arguments is not None else size(to_json(dict(block.arguments)))
            )
        elif isinstance(block, Result):
            for part in block.parts:
                if isinstance(part, Text):
                    data += size(part.text)
                else:
                    images += 1
    return Sizes(text, data, images)


def sizes_of(messages: Iterable[Message]) -> Sizes:
    """How large messages are together."""
    total = Sizes()
    for message in messages:
        total = total + message_sizes(message)
    return total


def prefix_sizes(system: str, tools: Sequence[ToolSpec]) -> Sizes:
    """How large system text and tool definitions are: what every prompt carries and no compaction removes."""
    data = sum(size(tool.name) + size(tool.description) + size(to_json(dict(tool.parameters))) for tool in tools)
    return Sizes(size(system), data)
