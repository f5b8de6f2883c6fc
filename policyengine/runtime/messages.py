"""The history of a running session, in one form for all providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image or document, base64 in `data`."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning that a provider wants back: byte for byte to the same model, never to another.

    `raw` is the provider's own block; `model` is who wrote it.
    """

    model: str
    provider: str
    raw: Mapping[str, Any]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments` is the parsed object; `raw_arguments` what was sent where it was no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    raw_arguments: str | None = None
    provider_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a tool call."""

    call_id: str
    name: str
    parts: tuple[Text | Image, ...]
    error: bool = False
    cancelled: bool = False


Block: TypeAlias = Text | Image | Thinking | Call | Result


@dataclass(frozen=True, slots=True)
class Message:
    """One message. A `tool` message holds only results, an `assistant` message no results and no images."""

    role: Role
    blocks: tuple[Block, ...]
    prompt_id: str | None = None
    summary: bool = False
