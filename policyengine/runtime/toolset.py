"""The tools of a session as a model sees them, written out once: every send measures them and asks what changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property

from policyengine.kinds.prompt_size import Sizes
from policyengine.kinds.tokenizers import Count as TokenCount
from policyengine.runtime.tools import Tool
from policyengine.sessions.content import size


class Toolset:
    """Some tools. A tool is not changed once it is made."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = tuple(tools)
        self.specs = tuple(tool.spec for tool in self._tools)
        """The tools as requests hold them."""
        self._sizes: tuple[TokenCount | None, Sizes] | None = None

    def of(self, tools: Mapping[str, Tool]) -> bool:
        """Whether it is of these very tools."""
        return len(tools) == len(self._tools) and all(
            one is other for one, other in zip(tools.values(), self._tools, strict=True)
        )

    @cached_property
    def digest(self) -> str:
        """What tells one set of definitions from another."""
        defined = "\0".join(part for tool in self._tools for part in (tool.name, tool.definition))
        return hashlib.sha256(defined.encode("utf-8", "surrogatepass")).hexdigest()

    def sizes(self, count: TokenCount | None) -> Sizes:
        """How large the definitions are; with `count`, a tokenizer, they are counted by it."""
        known = self._sizes
        if known is None or known[0] is not count:
            if count is not None:
                found = Sizes(tokens=sum(count(tool.definition) for tool in self._tools))
            else:
                found = Sizes(json_bytes=sum(size(tool.definition) for tool in self._tools))
            known = self._sizes = (count, found)
        return known[1]
