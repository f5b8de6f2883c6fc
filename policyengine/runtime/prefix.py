"""What changed the cached prefix of the prompts: system text, tools, model, memory, a compaction."""

from __future__ import annotations

import hashlib
from typing import Literal, TypeAlias

Change: TypeAlias = Literal["none", "system", "tools", "model", "memory", "compaction"]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Prefix:
    """The prefix of the round before, as hashes.

    `memory` is the part of the system text that a memory write changes, where an agent keeps one apart.
    """

    def __init__(self) -> None:
        self._last: tuple[str, str, str, str] | None = None
        self._compacted = False

    def compacted(self) -> None:
        """A compaction has replaced what came after the system text."""
        self._compacted = True

    def round(self, system: str, memory: str, tools: str, model: str) -> Change:
        """What changed since the round before; `none` for the first one. `tools` is the digest of a `Toolset`."""
        now = (_hash(system), _hash(memory), tools, model)
        before, self._last = self._last, now
        compacted, self._compacted = self._compacted, False
        if before is None:
            return "none"
        names: tuple[Change, ...] = ("system", "memory", "tools", "model")
        for name, old, new in zip(names, before, now, strict=True):
            if old != new:
                return name
        return "compaction" if compacted else "none"
