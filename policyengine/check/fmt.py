"""One layout for policies: indentation by two, one space where one is meant, at most one empty line. Comments stay.

The formatter works on the tokens of the text and only changes what stands between them: no scalar, quote or comment is
written anew. What comes out is read again and has to hold the same values, or the text stays as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from policyengine.source.finding import Finding
from policyengine.source.yaml import parse_documents

STEP = 2
"""Columns of indentation for each level."""

_COMMENT_GAP = 2
_PASSES = 4
"""A text that still changes after this many is left as it was."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_MARKS = (yaml.BlockEntryToken, yaml.ValueToken, yaml.AnchorToken, yaml.TagToken)
_NODES = (yaml.ScalarToken, yaml.AliasToken, *_OPENING)


@dataclass(frozen=True, slots=True)
class Formatted:
    """The text in our layout. `findings` is why it could not be read; the text is then the old one."""

    text: str
    findings: tuple[Finding, ...] = ()


def fmt(text: str, file: str) -> Formatted:
    """The text in our layout; `file` is the name that findings carry."""
    documents, findings = parse_documents(text, file)
    if findings:
        return Formatted(text, tuple(findings))
    after = settled(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    if after is None:
        return Formatted(text)
    # A block of text at the very end may mean to end without a line break.
    for candidate in (after, after.removesuffix("\n")):
        again, wrong = parse_documents(candidate, file)
        if not wrong and _values(again) == _values(documents):
            return Formatted(candidate)
    return Formatted(text)


def settled(text: str) -> str | None:
    """The text laid out until nothing changes any more; None where it goes on changing."""
    for _ in range(_PASSES):
        after = _once(text)
        if after == text:
            return text
        text = after
    return None


def _values(documents: list[Any]) -> str:
    return json.dumps([document.data for document in documents])


@dataclass(slots=True)
class _Block:
    """A block collection: the column it stands at, and the one it gets."""

    sequence: bool
    old: int
    new: int
    indentless: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """A token with text: where it is, and the column it gets at the start of a line, unless it stays in its line.

    `shift` is by how many columns the block around it moves.
    """

    token: Any
    start: int
    end: int
    column: int
    shift: int
    blocks: tuple[tuple[int, int], ...]
    """Old and new columns of the blocks around it, the outermost first: where a comment before it may belong."""


def _once(text: str) -> str:
    pieces = list(_Layout(text).pieces())
    out: list[str] = []
    at = 0
    before: _Piece | None = None
    for piece in pieces:
        out.append(_gap(text[at : piece.start], before, piece))
        content, at = _content(text, piece)
        out.append(content)
        before = piece
    out.append(_gap(text[at:], before, None))
    laid_out = "".join(out).strip("\n")
    return laid_out + "\n" if laid_out.strip() else ""


class _Layout:
    """Reads tokens and works out the column of each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[_Block] = []
        self.flow = 0
        self.flow_shift = 0

    def pieces(self) -> Iterator[_Piece]:
        for token in yaml.scan(self.text, Loader=_Loader):
            start, end = token.start_mark.index, token.end_mark.index
            if isinstance(token, yaml.DocumentStartToken | yaml.DocumentEndToken | yaml.DirectiveToken):
                self.blocks.clear()
                yield _Piece(token, start, end, 0, 0, ())
            elif isinstance(token, yaml.BlockMappingStartToken | yaml.BlockSequenceStartToken):
                self._open(isinstance(token, yaml.BlockSequenceStartToken), token.start_mark.column)
            elif isinstance(token, yaml.BlockEndToken):
                self._close_indentless()
                if self.blocks:
                    self.blocks.pop()
            elif end > start and not isinstance(token, yaml.StreamStartToken | yaml.StreamEndToken):
                piece = self._piece(token, start, end)
                if not self.flow and isinstance(token, _OPENING):
                    column = token.start_mark.column
                    alone = not self.text[start - column : start].strip()
                    self.flow_shift = piece.column - column if alone else self._shift()
                yield piece
                self.flow += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
            elif isinstance(token, yaml.KeyToken) and not self.flow:
                self._close_indentless(token.start_mark.column)

    def _open(self, sequence: bool, column: int) -> None:
        self._close_indentless(column if not sequence else None, only_if_outside=True)
        parent = self.blocks[-1].new + STEP if self.blocks else 0
        self.blocks.append(_Block(sequence, column, parent))

    def _close_indentless(self, column: int | None = None, *, only_if_outside: bool = False) -> None:
        """A sequence at the column of the mapping around it has no end of its own: the next key ends it."""
        if self.blocks and self.blocks[-1].indentless:
            inside = column is not None and column > self.blocks[-1].old
            if not inside and not only_if_outside:
                self.blocks.pop()

    def _piece(self, token: Any, start: int, end: int) -> _Piece:
        column = token.start_mark.column
        if isinstance(token, yaml.BlockEntryToken) and not self.flow:
            top = self.blocks[-1] if self.blocks else None
            if top is not None and not top.sequence:
                top = _Block(True, column, top.new + STEP, indentless=True)
                self.blocks.append(top)
            new = top.new if top is not None else 0
        elif isinstance(token, yaml.KeyToken):  # `? key`
            new = self.blocks[-1].new if self.blocks else 0
        elif self.flow:
            new = max(0, column + self.flow_shift)
        elif self.blocks and column == self.blocks[-1].old and not self.blocks[-1].sequence:
            new = self.blocks[-1].new
        else:
            new = self.blocks[-1].new + STEP if self.blocks else 0
        blocks = tuple((block.old, block.new) for block in self.blocks)
        return _Piece(token, start, end, new, self.flow_shift if self.flow else self._shift(), blocks)

    def _shift(self) -> int:
        return self.blocks[-1].new - self.blocks[-1].old if self.blocks else 0


def _content(text: str, piece: _Piece) -> tuple[str, int]:
    """The token's own text, its further lines moved with the block around it; and where it ends."""
    raw, end = text[piece.start : piece.end], piece.end
    token = piece.token
    block = isinstance(token, yaml.ScalarToken) and token.style in ("|", ">")
    if block:
        # The last line break, and with it empty lines that do not count, belong to what follows.
        keeps = "+" in raw.split("\n", 1)[0].split("#", 1)[0]
        kept = raw.removesuffix("\n") if keeps else raw.rstrip("\n")
        end -= len(raw) - len(kept)
        raw = kept
    first, *others = raw.split("\n")
    if block:
        first = _header(first)
    return "\n".join([first, *(_moved(line, piece.shift) for line in others)]), end


def _header(line: str) -> str:
    mark, found, comment = line.partition("#")
    return f"{mark.rstrip()}{' ' * _COMMENT_GAP}#{comment.rstrip()}" if found else line.rstrip()


def _moved(line: str, shift: int) -> str:
    if not line or shift == 0:
        return line
    if shift > 0:
        return " " * shift + line
    blank = len(line) - len(line.lstrip(" "))
    return line[min(blank, -shift) :]


def _gap(gap: str, before: _Piece | None, after: _Piece | None) -> str:
    """What stands between two tokens: spaces, comments, line breaks."""
    first, *rest = gap.split("\n")
    if not rest and before is not None and after is not None:
        return gap if "#" in first else _between(before.token, after.token)
    out: list[str] = []
    if before is None:
        rest, first = [first, *rest], ""
    elif comment := first.strip():
        spaces = max(_COMMENT_GAP, len(first) - len(first.lstrip()))
        out.append(" " * spaces + comment)
        first = ""
    lines: list[str] = []
    for line in rest[:-1] if after is not None else rest:
        comment = line.strip()
        if comment:
            lines.append(" " * _comment_column(line, before, after) + comment)
        elif not lines or lines[-1]:
            lines.append("")
    if after is None:
        return "".join(out) + "\n" + "\n".join(lines)
    indent = " " * after.column
    if before is None:
        return "\n".join([*lines, indent]) if lines else indent
    return "".join(out) + "\n" + "\n".join([*lines, indent])


def _comment_column(line: str, before: _Piece | None, after: _Piece | None) -> int:
    """Where a comment on a line of its own goes: with the block that it stands in line with."""
    column = len(line) - len(line.lstrip())
    if after is not None and column == after.token.start_mark.column:
        return after.column
    known = {**dict(before.blocks if before else ()), **dict(after.blocks if after else ())}
    if column in known:
        return known[column]
    if after is not None:
        return after.column
    return 0


def _between(before: Any, after: Any) -> str:
    """The canonical space between two tokens of one line."""
    if isinstance(after, _CLOSING) and not isinstance(before, (yaml.AnchorToken, yaml.TagToken)):
        return ""
    if isinstance(before, _OPENING):
        return ""
    if isinstance(after, yaml.FlowEntryToken | yaml.ValueToken):
        return " " if isinstance(before, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken) else ""
    return " "
