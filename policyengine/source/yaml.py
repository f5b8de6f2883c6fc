"""YAML in, plain data with places out; everything wrong or doubtful becomes a finding.

PyYAML (its C parser where there is one) splits the text into events; the values are built here, by the core
schema of YAML 1.2. Nothing is reinterpreted silently, no tag constructs an object, and no input takes more
than bounded time and memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from policyengine.source.core_schema import UnclearScalarError, resolve
from policyengine.source.document import Document, Node
from policyengine.source.finding import Finding, Severity
from policyengine.source.place import Place
from policyengine.source.secrets import brief
from policyengine.source.text import MAX_BYTES, Lines, UnreadableError, read_text, shown_path
from policyengine.source.yaml_syntax import describe

__all__ = ["CODE", "Document", "parse_documents", "read_documents"]

CODE = "yaml"

# Safety limits of the reader. People nest some ten levels and write some thousand values; what goes beyond
# these was not written by a person, and would cost stack or memory. Aliases count as what they stand for.
MAX_DEPTH = 100
MAX_NODES = 200_000
MAX_FINDINGS = 200
# The parser compares each %TAG directive with all others.
MAX_TAG_DIRECTIVES = 20

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
    "null": (type(None),),
}
_TAG_DIRECTIVE = re.compile(r"(?:^|[\r\n])%TAG")


@cache
def _bad_character() -> re.Pattern[str]:
    """What YAML does not allow to stand in a file as it is, the line breaks of YAML 1.1 and a byte order mark included.

    Python takes some milliseconds to compile it, and nearly all files are printable.
    """
    return re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read_documents(path: str | os.PathLike[str]) -> tuple[list[Document], list[Finding]]:
    """The documents of a YAML file and the findings of reading it. Raises nothing for any file."""
    try:
        text = read_text(path)
    except UnreadableError as error:
        return [], [Finding(CODE, Severity.ERROR, str(error), error.place, error.hint)]
    return parse_documents(text, shown_path(path))


def parse_documents(text: str, file: str) -> tuple[list[Document], list[Finding]]:
    """The documents in `text` and the findings of reading it; `file` is the name that places carry.

    A finding about a value leaves the document in the list, with `sound` False. Where reading has to stop,
    the documents before that point are in the list.
    """
    text = text.removeprefix("\ufeff")
    reader = _Reader(text, Lines(text, file))
    try:
        reader.check_text()
        reader.read()
    except _StopReading:
        pass
    return reader.documents, reader.findings


def _nothing(_event: Any, _start: int, _end: int) -> None:
    """The start of the stream holds nothing."""


class _StopReading(Exception):
    """Reading cannot go on; the finding that says why is recorded."""


@dataclass(slots=True)
class _Frame:
    """A collection that is being read, and in a mapping the key that waits for its value."""

    node: Node
    data: Any
    key: str | None = None
    key_node: Node | None = None
    wants_key: bool = True


class _Reader:
    def __init__(self, text: str, lines: Lines) -> None:
        self.documents: list[Document] = []
        self.findings: list[Finding] = []
        self._text = text
        self._lines = lines
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Node, Any]] = {}
        self._root: tuple[Node, Any] | None = None
        self._nodes = 0
        self._findings_before = 0
        self._last_scalar: Node | None = None
        self._document_index = 0

    def check_text(self) -> None:
        if len(self._text) > MAX_BYTES:
            self._stop(0, None, f"the text is longer than {MAX_BYTES:,} characters", "split it")
        printable = self._text.replace("\n", "").isprintable()
        if not printable and (bad := _bad_character().search(self._text)):
            at, code = bad.start(), ord(bad.group())
            if code in (0x85, 0x2028, 0x2029):
                message = f"U+{code:04X} is a line break in YAML 1.1 and a plain character in YAML 1.2"
                self._stop(at, at + 1, message, 'remove it, or write its escape in double quotes ("\\u....")')
            if code == 0:
                self._stop(at, at + 1, "there is a NUL character here", "remove it; is the file binary?")
            if code == 0xFEFF:
                self._stop(at, at + 1, "there is a byte order mark inside the text", "remove it")
            message = f"the control character U+{code:04X} cannot stand in YAML"
            self._stop(at, at + 1, message, "remove it, or write its escape in double quotes")
        directives = list(_TAG_DIRECTIVE.finditer(self._text)) if "%TAG" in self._text else []
        if len(directives) > MAX_TAG_DIRECTIVES:
            self._stop(directives[MAX_TAG_DIRECTIVES].end() - 4, None, "too many %TAG directives", "remove them")

    def read(self) -> None:
        loader = _Loader(self._text)
        next_event = loader.get_event
        act: dict[type, Callable[[Any, int, int], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.AliasEvent: self._alias,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.DocumentStartEvent: self._start_document,
            yaml.DocumentEndEvent: self._end_document,
            yaml.StreamStartEvent: _nothing,
        }
        try:
            while type(event := next_event()) is not yaml.StreamEndEvent:
                act[type(event)](event, event.start_mark.index, event.end_mark.index)
        except (yaml.YAMLError, ValueError) as error:
            problem = describe(error, self._text, self._last_scalar)
            self._stop(
                problem.start,
                problem.end,
                problem.message.replace("{line}", str(self._line(problem.opened))),
                problem.hint,
            )
        finally:
            loader.dispose()
        if self._document_index == 0:
            self._report(0, None, "the file is empty", "write a policy, or delete the file")

    def _line(self, offset: int | None) -> int:
        return self._lines.position(offset or 0)[0]

    # Documents

    def _start_document(self, event: Any, start: int, _end: int) -> None:
        self._anchors = {}
        self._root = None
        self._nodes = 0
        self._findings_before = len(self.findings)
        if event.version is not None and tuple(event.version) != (1, 2):
            hint = "remove the %YAML directive, and check `yes`, `no`, `on`, `off` and numbers with `_` or `:`"
            self._report(start, None, "the file asks for YAML 1.1; it is read as YAML 1.2", hint)

    def _end_document(self, _event: Any, _start: int, _end: int) -> None:
        assert self._root is not None
        node, data = self._root
        if data is None and node.style == "" and node.start == node.end:
            self._document_index += 1
            number = self._document_index
            hint = "remove its `---`, or write a policy"
            self._report(node.start, None, f"document {number} of this file is empty", hint)
            return
        sound = len(self.findings) == self._findings_before
        self.documents.append(Document(self._text, self._lines, node, data, index=self._document_index, sound=sound))
        self._document_index += 1

    # Values

    def _scalar(self, event: Any, start: int, end: int) -> None:
        style = event.style or ""
        value: Any = event.value
        tag = event.tag
        anchor = event.anchor
        if tag is not None or anchor is not None:
            start = self._after_properties(start, end)
        self._last_scalar = node = Node(start, end, style)
        if tag is not None:
            value = self._tagged_scalar(event, node)
        elif style == "":
            try:
                value = resolve(value)
            except UnclearScalarError as error:
                self._report(start, end, str(error), error.hint, node)
        if anchor is not None:
            self._anchors[anchor] = (node, value)
        self._attach(node, value)

    def _tagged_scalar(self, event: Any, node: Node) -> Any:
        tag: str = event.tag
        if tag == "!":
            return event.value
        name = tag.removeprefix(_TAG_PREFIX)
        kinds = _SCALAR_TAGS.get(name) if tag.startswith(_TAG_PREFIX) else None
        if kinds is None:
            self._unknown_tag(tag, event.start_mark.index, node)
            return event.value
        if name == "str":
            return event.value
        try:
            value = resolve(event.value)
        except UnclearScalarError as error:
            self._report(node.start, node.end, str(error), error.hint, node)
            return event.value
        if type(value) not in kinds:
            hint = "remove the tag, or write a value of that type"
            self._report(node.start, node.end, f"the value is not a YAML 1.2 `!!{name}`", hint, node)
        return value

    def _unknown_tag(self, tag: str, start: int, node: Node) -> None:
        shown = tag.replace(_TAG_PREFIX, "!!", 1)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        written = _TAG.search(self._text, start, max(start, node.start))
        start, end = written.span() if written else (start, node.end)
        self._report(start, end, f"the tag `{shown}` is not allowed", "remove it; policies are plain data", node)

    def _alias(self, event: Any, start: int, end: int) -> None:
        anchor: str = event.anchor or ""
        node = Node(start, end)
        value = None
        if anchor not in self._anchors:
            self._report(
                start,
                end,
                f"the alias `*{anchor}` has no anchor before it",
                f"define `&{anchor}` above",
                node,
            )
        else:
            target, value = self._anchors[anchor]
            if not target.closed:
                message = f"the alias `*{anchor}` stands inside its own anchor, which never ends"
                self._report(start, end, message, "write the value out", node)
                value = None
            else:
                node.target, node.size, node.height = target, target.size, target.height
        self._attach(node, value)

    def _open(self, event: Any, start: int, end: int) -> None:
        if event.anchor is not None or event.tag is not None:
            start = self._after_properties(start, end)
        mapping = isinstance(event, yaml.MappingStartEvent)
        node = Node(start, end, children={} if mapping else [], closed=False)
        data: Any = {} if mapping else []
        if event.tag is not None and event.tag not in ("!", _TAG_PREFIX + ("map" if mapping else "seq")):
            self._unknown_tag(event.tag, event.start_mark.index, node)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, data)
        self._stack.append(_Frame(node, data))
        if len(self._stack) > MAX_DEPTH:
            self._too_deep(node)

    def _close(self, _event: Any, start: int, end: int) -> None:
        frame = self._stack.pop()
        node = frame.node
        node.closed = True
        if end > start:  # `]` or `}`; the end of a block is only seen at what follows it
            node.end = end
        self._attach(node, frame.data)

    def _attach(self, node: Node, value: Any) -> None:
        """Give a finished value to the collection around it."""
        self._nodes += 1
        if not self._stack:
            self._root = (node, value)
            return
        frame = self._stack[-1]
        parent = frame.node
        parent.size += node.size
        if parent.height <= node.height:
            parent.height = node.height + 1
        if parent.end < node.end:
            parent.end = node.end
        if parent.size > MAX_NODES or self._nodes > MAX_NODES:
            hint = "split it into several files" if self._nodes > MAX_NODES else "write fewer aliases of aliases"
            message = f"the document has more than {MAX_NODES:,} values, with aliases followed"
            self._stop(node.start, node.end, message, hint)
        if len(self._stack) + node.height > MAX_DEPTH:
            self._too_deep(node)
        if type(children := parent.children) is list:
            children.append(node)
            frame.data.append(value)
        elif frame.wants_key:
            frame.wants_key = False
            frame.key_node = node
            frame.key = self._key(node, value, frame)
        else:
            frame.wants_key = True
            if (key := frame.key) is not None:
                assert type(children) is dict
                assert frame.key_node is not None
                children[key] = node
                parent.keys[key] = frame.key_node
                frame.data[key] = value

    def _key(self, node: Node, value: Any, frame: _Frame) -> str | None:
        """The mapping key `value`, or None, with a finding, where it cannot be one."""
        if node.flawed:
            return None
        if not isinstance(value, str):
            shown = self._text[node.start : node.end]
            what = {dict: "a mapping", list: "a list", type(None): "null", bool: "a boolean"}.get(
                type(value), "a number"
            )
            if isinstance(value, dict | list) or "\n" in shown or not shown:
                self._report(node.start, node.end, f"{what} is used as a key; expected text", "write a name", node)
            else:
                hint = f'quote it: "{shown}"' if len(shown) <= 30 else "quote it"
                self._report(node.start, node.end, f"the key is {what}; expected text", hint, node)
            return None
        if value == "<<" and node.style == "":
            hint = "write the keys out, or alias the whole value (`key: *name`)"
            self._report(node.start, node.end, "merge keys `<<` are not part of YAML 1.2", hint, node)
            return None
        if value in frame.data:
            line = self._line(frame.node.keys[value].start)
            message = f"duplicate key `{brief(value)}`; first on line {line}"
            self._report(node.start, node.end, message, "keep one of the two", node)
            return None
        return value

    def _after_properties(self, start: int, end: int) -> int:
        """The offset of the value itself where an anchor or a tag stands before it."""
        found = _PROPERTIES.match(self._text, start)
        return min(found.end(), max(start, end)) if found else start

    # Findings

    def _too_deep(self, node: Node) -> None:
        message = f"values are nested deeper than {MAX_DEPTH} levels, with aliases followed"
        self._stop(node.start, None, message, "flatten the structure")

    def _report(self, start: int, end: int | None, message: str, hint: str, node: Node | None = None) -> None:
        if node is not None:
            node.flawed = True
        place: Place = self._lines.place(start, end)
        self.findings.append(Finding(CODE, Severity.ERROR, message, place, hint))
        if len(self.findings) > MAX_FINDINGS:
            self.findings[-1] = Finding(
                CODE, Severity.ERROR, f"more than {MAX_FINDINGS} findings; reading stopped here", place
            )
            raise _StopReading

    def _stop(self, start: int, end: int | None, message: str, hint: str | None) -> None:
        self.findings.append(Finding(CODE, Severity.ERROR, message, self._lines.place(start, end), hint))
        raise _StopReading


_TAG = re.compile(r"!\S*")
# Anchor and tag in front of a value, with the white space and comments between.
_PROPERTIES = re.compile(r"(?:[&!][^\s]*(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+[ \t]*)++")
