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
from policyengine.sessions.content import Json, as_list
from policyengine.sessions.detect import document_format, is_document, is_plain_message, line_format
from policyengine.sessions.gemini import GeminiReader
from policyengine.sessions.lines import MESSAGE_KEYS, read_document, read_lines
from policyengine.sessions.model import Format, Session
from policyengine.sessions.openai import OpenAIReader
from policyengine.sessions.qwen_code import QwenCodeReader
from policyengine.source.errors import InputError
from policyengine.source.place import Place

Progress: TypeAlias = Callable[[int, int], None]

_EXPECTED: Final = (
    "a Claude Code or Codex transcript, a qwen-code chat record, "
    "or an OpenAI, Anthropic or Gemini message list"
)
# Lines between two reports of progress: often enough for an eye, rarely enough to cost nothing.
_REPORT_EVERY: Final = 256


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
    data = text.encode("utf-8", "surrogatepass")
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
            session = _read_messages(reader, *document)
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


def _read_messages(reader: Reader, fields: Json, messages: list[object], cut: bool) -> Session:
    skipped: Counter[str] = Counter()
    reader.header(fields)
    for message in messages:
        reason = reader.record(message) if isinstance(message, dict) else "not an object"
        if reason is not None:
            skipped[reason] += 1
    if cut:
        skipped["truncated last message"] += 1
    return reader.finish(dict(skipped), len(messages) + cut)


_Document: TypeAlias = tuple[Json, list[object], bool]


def _detect(stream: BinaryIO, name: str) -> tuple[Format, _Document | None]:
    """Find the format; a JSON document is given along, since finding out meant reading it."""
    objects = documents = 0
    plain = False
    empty = True
    binary = False
    held: Json = {}
    for line, _ in read_lines(stream):
        if isinstance(line, str):
            empty = empty and line == "blank line"
            binary = binary or line == "not UTF-8"
            continue
        empty = False
        objects += 1
        if is_document(line):
            documents += 1
            held = line
            continue
        found = line_format(line)
        if found is not None and not documents:
            return found, None
        plain = plain or is_plain_message(line)
    if empty:
        raise InputError(f"is empty; expected {_EXPECTED}", Place(name))
    if documents > 1:
        raise InputError(f"holds {documents} conversations; expected one in a file", Place(name, 2))
    if documents == 1:
        key = next(key for key in MESSAGE_KEYS if isinstance(held.get(key), list))
        fields = {other: value for other, value in held.items() if other != key}
        return _document_format(name, (fields, as_list(held[key]), False))
    if plain:
        return "openai", None
    stream.seek(0)
    try:
        document = read_document(stream.read().decode("utf-8-sig", "strict"))
    except UnicodeDecodeError:
        document = None
    if document is not None:
        return _document_format(name, document)
    what = "is not text (UTF-8)" if binary and not objects else "is of no known format"
    raise InputError(f"{what}; expected {_EXPECTED}", Place(name))


def _document_format(name: str, document: _Document) -> tuple[Format, _Document]:
    format = document_format(document[0], document[1])
    if format is None:
        raise InputError(f"is JSON, but not a list of messages; expected {_EXPECTED}", Place(name))
    return format, document


_READERS: Final[dict[Format, Callable[[str], Reader]]] = {
    "claude-code": ClaudeCodeReader,
    "codex": CodexReader,
    "openai": OpenAIReader,
    "anthropic": AnthropicReader,
    "gemini": GeminiReader,
    "qwen-code": QwenCodeReader,
}
