"""Reads a transcript of any known format into a session."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, Protocol, TypeAlias

from policyengine.sessions.anthropic import AnthropicReader
from policyengine.sessions.claude_code import ClaudeCodeReader
from policyengine.sessions.codex import CodexReader
from policyengine.sessions.content import Json
from policyengine.sessions.detect import document_format, is_plain_message, line_format
from policyengine.sessions.documents import Document, document_of, is_document, read_document
from policyengine.sessions.gemini import GeminiReader
from policyengine.sessions.lines import MAX_LINE_BYTES, read_lines
from policyengine.sessions.model import Format, Session
from policyengine.sessions.openai import OpenAIReader
from policyengine.sessions.qwen_code import QwenCodeReader
from policyengine.source.errors import InputError
from policyengine.source.place import Place

Progress: TypeAlias = Callable[[int, int], None]

_EXPECTED: Final = (
    "a Claude Code or Codex transcript, a qwen-code chat record, or an OpenAI, Anthropic or Gemini message list"
)
# Lines between two reports of progress: often enough for an eye, rarely enough to cost nothing.
_REPORT_EVERY: Final = 256
# Lines that must agree on a format: a stray line of another format decides nothing.
_VOTES: Final = 32


class Reader(Protocol):
    """What a format's reader does."""

    def header(self, fields: Json) -> None:
        """Take the fields that stand around the messages of a JSON document."""

    def record(self, line: Json) -> str | None:
        """Take one line or message; give the reason if it is no part of the session."""

    def finish(self, skipped: dict[str, int], lines: int) -> Session:
        """Give the session."""

    def again(self) -> Reader | None:
        """Give another reader if the file has to be read over in another way."""


def read(path: str | Path, *, progress: Progress | None = None) -> Session:
    """Read a transcript. `progress` is called with the bytes done and the bytes in all.

    Raises InputError where the file cannot be read or is of no known format.
    """
    name = str(path)
    file = Path(path)
    if file.is_dir():
        raise InputError(f"is a directory; expected a file: {_EXPECTED}", Place(name))
    try:
        with file.open("rb") as stream:
            return _read(stream, name, file.stat().st_size, progress)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", Place(name)) from None


def read_text(text: str, name: str = "<text>") -> Session:
    """Read a transcript that is in memory; `name` stands for its path. Raises InputError like `read`."""
    return read_bytes(text.encode("utf-8", "surrogatepass"), name)


def read_bytes(data: bytes, name: str = "<bytes>") -> Session:
    """Read the bytes of a transcript; `name` stands for its path. Raises InputError like `read`."""
    return _read(io.BytesIO(data), name, len(data), None)


def _read(stream: BinaryIO, name: str, total: int, progress: Progress | None) -> Session:
    format, document = _detect(stream, name)
    reader: Reader | None = _READERS[format](name)
    session: Session | None = None
    while reader is not None:
        stream.seek(0)
        if document is None:
            session = _read_jsonl(stream, reader, total, progress)
        else:
            session = _read_messages(reader, document)
        reader = reader.again()
    assert session is not None
    return session


def _read_jsonl(stream: BinaryIO, reader: Reader, total: int, progress: Progress | None) -> Session:
    skipped: Counter[str] = Counter()
    lines = done = 0
    for line, length in read_lines(stream):
        lines += 1
        done += length
        reason = line if isinstance(line, str) else reader.record(line)
        if reason is not None:
            skipped[reason] += 1
        if progress is not None and lines % _REPORT_EVERY == 0:
            progress(done, total)
    if progress is not None:
        progress(done, total)
    return reader.finish(dict(skipped), lines)


def _read_messages(reader: Reader, document: Document) -> Session:
    skipped: Counter[str] = Counter()
    reader.header(document.fields)
    for message in document.messages:
        reason = reader.record(message) if isinstance(message, dict) else "not an object"
        if reason is not None:
            skipped[reason] += 1
    if document.cut:
        skipped["truncated last message"] += 1
    if document.outside:
        skipped["outside the document"] += document.outside
    return reader.finish(dict(skipped), len(document.messages) + document.cut + document.outside)


def _detect(stream: BinaryIO, name: str) -> tuple[Format, Document | None]:
    """Find the format; a JSON document is given along, since finding out meant reading it."""
    votes: Counter[Format] = Counter()
    documents: list[Json] = []
    reasons: Counter[str] = Counter()
    plain = False
    filled = 0
    for line, _ in read_lines(stream):
        if line == "blank line":
            continue
        filled += 1
        if isinstance(line, str):
            reasons[line] += 1
            if filled == 1:
                # No JSONL begins like this, but a document of several lines does.
                whole = _whole(stream)
                if whole is not None:
                    return whole
        elif is_document(line):
            documents.append(line)
        else:
            plain = plain or is_plain_message(line)
            found = line_format(line)
            if found is not None:
                votes[found] += 1
                if votes[found] == _VOTES:
                    break
    if votes:
        return votes.most_common(1)[0][0], None
    if plain:
        return "openai", None
    place = Place(name)
    if len(documents) == 1:
        document = document_of(documents[0], filled - 1)
        format = document_format(document.fields, document.messages)
        if format is not None:
            return format, document
    if len(documents) > 1:
        raise InputError(f"holds {len(documents)} conversations; expected one in a file", place)
    if filled == 0:
        raise InputError(f"is empty; expected {_EXPECTED}", place)
    if filled == 1 and reasons["line too long"]:
        raise InputError(
            f"begins with a line of more than {MAX_LINE_BYTES // 1_000_000} MB, the most this reader takes", place
        )
    what = "is not UTF-8 text" if reasons["not UTF-8"] == filled else "is of no known format"
    raise InputError(f"{what}; expected {_EXPECTED}", place)


def _whole(stream: BinaryIO) -> tuple[Format, Document] | None:
    """Try the whole file as one document; leaves the stream where it was."""
    at = stream.tell()
    stream.seek(0)
    text = stream.read(MAX_LINE_BYTES + 1)
    stream.seek(at)
    if len(text) > MAX_LINE_BYTES:
        return None
    document = read_document(text.decode("utf-8-sig", "replace"))
    format = document_format(document.fields, document.messages) if document is not None else None
    return None if format is None or document is None else (format, document)


_READERS: Final[dict[Format, Callable[[str], Reader]]] = {
    "claude-code": ClaudeCodeReader,
    "codex": CodexReader,
    "openai": OpenAIReader,
    "anthropic": AnthropicReader,
    "gemini": GeminiReader,
    "qwen-code": QwenCodeReader,
}
