"""How large messages are, for the token estimate."""

from __future__ import annotations

from policyengine.kinds.prompt_size import Sizes
from policyengine.kinds.tokenizers import Count as TokenCount
from policyengine.runtime.messages import Call, Image, Message, Result, Text
from policyengine.sessions.content import size, to_json


def message_sizes(message: Message, count: TokenCount | None = None) -> Sizes:
    """How large a message is for the token estimate. Thinking does not count: most providers do not take it back.

    With `count`, a tokenizer, texts are counted by it.
    """
    text = data = images = tokens = 0
    for block in message.blocks:
        parts = block.parts if isinstance(block, Result) else (block,)
        for part in parts:
            if isinstance(part, Image):
                images += 1
                continue
            if isinstance(part, Text):
                written = part.text
            elif isinstance(part, Call):
                written = part.name + (
                    part.raw_arguments if part.raw_arguments is not None else to_json(dict(part.arguments))
                )
            else:
                continue
            if count is not None:
                tokens += count(written)
            elif block is part and isinstance(part, Text):
                text += size(written)
            else:
                data += size(written)
    return Sizes(text, data, images, tokens)


def text_sizes(text: str, count: TokenCount | None = None) -> Sizes:
    """How large a text is."""
    return Sizes(size(text)) if count is None else Sizes(tokens=count(text))
