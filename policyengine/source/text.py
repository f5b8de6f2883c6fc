"""Files as text: bounded reading, decoding that says where it failed, and offsets as lines and columns."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from functools import cached_property
from pathlib import Path

from policyengine.source.place import Place

# Safety limit of the reader: a policy file is a few kilobytes; more than this is refused unread.
MAX_BYTES = 5_000_000

_UNDER_DEV = "/dev/"
_BREAK = re.compile(r"\r\n|\r|\n")
_BYTE_ORDER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


class UnreadableError(Exception):
    """A file that cannot be had as text. `place` is where, `hint` what to do; `str()` says why."""

    def __init__(self, message: str, place: Place, hint: str | None = None) -> None:
        self.place = place
        self.hint = hint
        super().__init__(message)


class Lines:
    """Turns an offset into a text into the line and column that an editor shows for it."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self._text = text
        self._length = len(text)

    @cached_property
    def _starts(self) -> list[int]:
        # Of most files nobody asks for a place.
        return [0, *(found.end() for found in _BREAK.finditer(self._text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of the character at `offset`."""
        offset = max(0, min(offset, self._length))
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column, both from 1; the end of the text for a line beyond it."""
        if line > len(self._starts):
            return self._length
        return min(self._starts[line - 1] + column - 1, self._length)

    def place(self, start: int, end: int | None = None) -> Place:
        """The place from `start` to just before `end`; a place without extent where `end` is None."""
        line, column = self.position(start)
        end_line, end_column = (line, column) if end is None else self.position(max(start, end))
        return Place(self.file, line, column, end_line, end_column)


def shown_path(path: str | os.PathLike[str]) -> str:
    """A path as text that can always be printed."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8")


def read_text(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> str:
    """The text of a UTF-8 file of at most `limit` bytes, without its byte order mark.

    Raises UnreadableError for everything that stands against that.
    """
    file = shown_path(path)
    return decode(_read_bytes(path, file, limit), file)


def _read_bytes(path: str | os.PathLike[str], file: str, limit: int) -> bytes:
    place = Place(file)
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise UnreadableError("this is a directory; expected a file", place)
        # A pipe in a folder of policies would block for ever; one named on the command line is under /dev.
        if not stat.S_ISREG(mode) and not file.startswith(_UNDER_DEV):
            raise UnreadableError("this is not a regular file", place)
        with Path(path).open("rb", buffering=0) as stream:
            data = bytearray()
            while len(data) <= limit and (more := stream.read(limit + 1 - len(data))):
                data += more
    except FileNotFoundError:
        if os.path.islink(path):
            hint = "remove it, or put back what it leads to"
            raise UnreadableError("this is a link that leads to nothing", place, hint) from None
        raise UnreadableError("no such file", place, "check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise UnreadableError(f"cannot read the file: {reason}", place) from None
    if len(data) > limit:
        raise UnreadableError(
            f"the file is larger than {limit // 1_000_000} MB, the most this reader takes",
            place,
            "split it into several files",
        )
    return bytes(data)


def decode(data: bytes, file: str) -> str:
    """`data` as UTF-8 text without byte order mark; raises UnreadableError with the place of a bad byte."""
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            raise UnreadableError(f"the file is {name}; expected UTF-8", Place(file, 1), "save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place_of_byte(data, error.start, file)
        if b"\0" in data:
            raise UnreadableError("the file is binary; expected UTF-8 text", place, "check the path") from None
        raise UnreadableError(f"byte 0x{data[error.start]:02x} is not UTF-8", place, "save the file as UTF-8") from None
    if (nul := text.find("\0")) >= 0:
        place = _place_of_byte(data, data.find(b"\0"), file)
        if text[nul + 1 : nul + 4 : 2] == "\0\0" or text[nul + 2 : nul + 5 : 2] == "\0\0":
            raise UnreadableError("the file looks like UTF-16; expected UTF-8", place, "save it as UTF-8")
        raise UnreadableError(
            "there is a NUL character here; expected UTF-8 text",
            place,
            "remove it; check that the file is not binary",
        )
    return text.removeprefix("\ufeff")


def _place_of_byte(data: bytes, offset: int, file: str) -> Place:
    before = data[:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    return Lines(before, file).place(len(before))
