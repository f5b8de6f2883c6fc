"""Whether files are decision logs at all: a transcript is no log in which nothing happened."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from policyengine.log.lines import parse
from policyengine.source.errors import InputError
from policyengine.source.text import shown_path

SQLITE_SUFFIXES = (".sqlite", ".sqlite3", ".db")
SUFFIXES = (".jsonl", ".parquet", *SQLITE_SUFFIXES)
"""How names of logs end."""
MARK = b'{"schema":"policyengine.record/'
"""How a record begins, also one whose end was never written."""
_LOOKED_AT = 50
"""Lines that are looked at to say what else a file may be."""


def is_record(line: bytes) -> bool:
    """Whether a line is a record or the beginning of one."""
    return line.startswith(MARK) or parse(line) is not None


def holds_records(path: Path) -> bool | None:
    """Whether a file of lines is a decision log; None where it holds nothing yet. Raises `InputError`."""
    try:
        with path.open("rb") as file:
            filled = False
            for line in file:
                if is_record(line):
                    return True
                filled = filled or bool(line.strip())
    except OSError as error:
        raise InputError(f"{shown_path(path)}: cannot be read: {error.strerror}") from None
    return False if filled else None


def is_recording(path: Path) -> str | None:
    """What a file is that nobody means to overwrite: a decision log or a session; None for any other."""
    if path.suffix in SQLITE_SUFFIXES and path.stat().st_size:
        return "a database"
    if path.suffix != ".parquet" and holds_records(path):
        return "a decision log"
    return "a session" if _session_format(path) else None


def refuse_others(paths: Iterable[Path]) -> None:
    """Raises `InputError` for a file that is no decision log, and where none of the files holds anything.

    What is no plain file (a pipe, say) can be read only once and is left alone.
    """
    found = {path: holds_records(path) if _has_lines(path) else True for path in paths}
    for path, logged in found.items():
        if logged is False:
            raise InputError(not_a_log(path))
    if found and not any(found.values()):
        raise InputError(f"{shown_path(next(iter(found)))}: holds no record")


def refuse_without_lines(path: Path) -> None:
    """Raises `InputError` where a file is no log of lines. An empty one may become one."""
    if path.suffix in (".parquet", *SQLITE_SUFFIXES):
        message = "only a JSONL log can be followed; `policyengine log show` reads this one"
        raise InputError(f"{shown_path(path)}: {message}")
    if path.is_file() and holds_records(path) is False:
        raise InputError(not_a_log(path))


def _has_lines(path: Path) -> bool:
    return path.is_file() and path.suffix not in (".parquet", *SQLITE_SUFFIXES)


def not_a_log(path: Path) -> str:
    """That a file is no decision log, and what it seems to be."""
    return f"{shown_path(path)}: is no decision log, no line of it is a record{_guess(path)}"


def _guess(path: Path) -> str:
    found = _session_format(path)
    return f"; it looks like a session ({found}), which `policyengine replay` reads" if found else ""


def _session_format(path: Path) -> str | None:
    from policyengine.sessions.detect import line_format

    with path.open("rb") as file:
        for line in islice(file, _LOOKED_AT):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and (found := line_format(value)) is not None:
                return found
    return None
