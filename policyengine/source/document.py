"""One YAML document: its plain data, and the place in the file of everything in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from policyengine.source.offsets import Origins, end_of, origins
from policyengine.source.place import Place
from policyengine.source.text import Lines

Path = Sequence[str | int]


class Node:
    """Where one value stands in the text. `start` and `end` are offsets; an alias points to its `target`.

    A document has thousands of them, so it is a plain class, and only a mapping has `keys` of its own.
    """

    __slots__ = ("children", "closed", "end", "flawed", "height", "keys", "size", "start", "style", "target")

    def __init__(
        self,
        start: int,
        end: int,
        style: str | None = None,
        children: list[Node] | dict[str, Node] | None = None,
        closed: bool = True,
    ) -> None:
        self.start = start
        self.end = end
        self.style = style
        """Of a scalar: `''` plain, `'` or `"` quoted, `|` literal, `>` folded; None for anything else."""
        self.children = children
        self.keys: dict[str, Node] = {} if type(children) is dict else _NO_KEYS
        self.target: Node | None = None
        self.flawed = False
        """Whether a finding of the reader stands here already."""
        self.size = 1
        """Nodes in this value, with its aliases followed."""
        self.height = 1
        """Levels of nesting, likewise."""
        self.closed = closed


_NO_KEYS: dict[str, Node] = {}


class Document:
    """A YAML document.

    `data` is plain: dict with text keys, list, str, int, float, bool, None. Aliased values are shared, so do
    not change it. `sound` is False where the reader reported something inside, so `data` is a best guess.
    A path is a sequence of mapping keys and list indexes; a path that leads nowhere stands for the nearest
    value around it.
    """

    __slots__ = ("_lines", "_origins", "_root", "data", "file", "index", "sound", "text")

    def __init__(self, text: str, lines: Lines, root: Node, data: Any, *, index: int = 0, sound: bool = True) -> None:
        self.file = lines.file
        self.text = text
        self.data = data
        self.index = index
        self.sound = sound
        self._lines = lines
        self._root = root
        self._origins: dict[tuple[int, int], Origins | None] = {}

    def place(self, path: Path = ()) -> Place:
        """The place of the value at `path`."""
        node = self._find(path)[0]
        # A block ends where the next thing begins; nobody means the empty lines between.
        text = self.text[node.start : node.end].rstrip(" \t\r\n")
        return self._lines.place(node.start, node.start + len(text))

    def key_place(self, path: Path) -> Place:
        """The place of the mapping key that `path` ends in; of the value itself where it is no mapping's."""
        parent, complete = self._find(path[:-1])
        if complete and path and isinstance(key := path[-1], str):
            node = _followed(parent).keys.get(key)
            if node is not None:
                return self._lines.place(node.start, node.end)
        return self.place(path)

    def place_in(self, path: Path, offset: int, length: int = 1) -> Place:
        """The place of the characters `offset` to `offset + length` of the text value at `path`.

        Exact in every scalar style. The place of the whole value where that is no text.
        """
        node, complete = self._find(path)
        value = self.value(path) if complete else None
        node = _followed(node)
        if not isinstance(value, str) or node.style is None:
            return self.place(path)
        key = (node.start, node.end)
        if key not in self._origins:
            self._origins[key] = origins(self.text, node.start, node.end, node.style, value)
        found = self._origins[key]
        if found is None:
            return self.place(path)
        first = max(0, min(offset, len(value)))
        last = max(first, min(offset + length, len(value)))
        start = found[first]
        end = end_of(self.text, found[last - 1], node.style) if last > first else start
        return self._lines.place(start, end)

    def span(self, path: Path) -> tuple[int, int]:
        """Start and end offset in `text` of the value at `path`, for tools that change the text."""
        node = self._find(path)[0]
        return node.start, node.end

    def style(self, path: Path) -> str | None:
        """How the scalar at `path` is written: `''` plain, `'`, `"`, `|` or `>`; None for anything else."""
        node, complete = self._find(path)
        return _followed(node).style if complete else None

    def flawed(self, path: Path) -> bool:
        """Whether the reader already reported something about exactly this value."""
        node, complete = self._find(path)
        return complete and (node.flawed or _followed(node).flawed)

    def value(self, path: Path) -> Any:
        """The value at `path`, or None where there is none."""
        value = self.data
        for step in path:
            if not _has(value, step):
                return None
            value = value[step]
        return value

    def _find(self, path: Path) -> tuple[Node, bool]:
        node = self._root
        for step in path:
            children: Any = _followed(node).children
            if not _has(children, step):
                return node, False
            node = children[step]
        return node, True


def _has(collection: Any, step: str | int) -> bool:
    if isinstance(collection, dict):
        return step in collection
    return isinstance(collection, list) and isinstance(step, int) and 0 <= step < len(collection)


def _followed(node: Node) -> Node:
    while node.target is not None:
        node = node.target
    return node
