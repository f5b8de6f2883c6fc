"""The standing summary: items in sections, each with the compaction cycle it came from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from policyengine.compression.index import ArtefactIndex

Method = Literal["anchored", "regenerative", "opaque", "extractive"]

_SPACE = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[^\w/.:#@+-]+")


@dataclass(frozen=True, slots=True)
class Note:
    """One fact. `cycle` is the compaction that brought it first, `seen` the last that brought it, `at` its round."""

    text: str
    cycle: int
    seen: int
    at: int


@dataclass(frozen=True, slots=True)
class Item:
    """What a section says about one thing. `identity` makes two items one, `label` is what is shown of it."""

    identity: str
    label: str
    notes: tuple[Note, ...]


Sections = Mapping[str, tuple[Item, ...]]


@dataclass(frozen=True)
class Standing:
    """What stands between compactions: the whole state of a method, for a session that goes on.

    `prose` is what the regenerative and opaque methods hold instead of sections. `regenerations` counts summaries
    rewritten as a whole in a row. `dropped` counts, by section, items left out for room up to now. `task` is the task
    as the person stated it.
    """

    method: Method | None = None
    cycle: int = 0
    profile: str = ""
    task: str = ""
    sections: Sections = field(default_factory=dict)
    prose: str = ""
    regenerations: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    index: ArtefactIndex = field(default_factory=ArtefactIndex)

    def as_json(self) -> dict[str, Any]:
        """Plain data from which `from_json` makes the same state."""
        return {
            "method": self.method,
            "cycle": self.cycle,
            "profile": self.profile,
            "task": self.task,
            "sections": {
                name: [
                    {
                        "identity": item.identity,
                        "label": item.label,
                        "notes": [[note.text, note.cycle, note.seen, note.at] for note in item.notes],
                    }
                    for item in items
                ]
                for name, items in self.sections.items()
            },
            "prose": self.prose,
            "regenerations": self.regenerations,
            "dropped": dict(self.dropped),
            "index": self.index.as_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Standing:
        """The state that `as_json` wrote, also after a trip through JSON text."""
        sections = {
            name: tuple(
                Item(row["identity"], row["label"], tuple(Note(*note) for note in row["notes"])) for row in items
            )
            for name, items in data["sections"].items()
        }
        return cls(
            data["method"], data["cycle"], data["profile"], data["task"], sections, data["prose"],
            data["regenerations"], dict(data["dropped"]), ArtefactIndex.from_json(data["index"]),
        )  # fmt: skip

    def with_index(self, index: ArtefactIndex) -> Standing:
        """The same with another index."""
        return replace(self, index=index)


def identity_of(text: str) -> str:
    """What makes two texts one: case, spaces and punctuation do not count."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", _PUNCTUATION.sub(" ", folded)).strip(" .:-")


def one_line(text: str) -> str:
    """A text without line breaks and control characters, so that it can stand for nothing but itself."""
    return _SPACE.sub(" ", "".join(" " if unicodedata.category(c) in _CONTROL else c for c in text)).strip()


_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def size(text: str) -> int:
    """UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def fit(text: str, limit: int, mark: str) -> str:
    """The text in at most `limit` bytes; where it had to be cut it ends with `mark`."""
    if size(text) <= limit:
        return text
    room = max(0, limit - size(mark))
    return (text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore").rstrip() + mark)[:limit]
