"""Files that a command writes: never over one that it reads, nor over a recording."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from policyengine.source.errors import InputError
from policyengine.source.text import shown_path


def keep_inputs(option: str, output: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raises `InputError` where `option` names a file that the command reads, by whatever path or link."""
    for path in inputs:
        if _same(output, path):
            raise InputError(f"{shown_path(output)}: {option} names a file that is read here; write to another file")


def keep_recordings(option: str, output: str | Path, inputs: Iterable[str | Path]) -> None:
    """As `keep_inputs`; and raises `InputError` where a decision log or a session would be overwritten."""
    from policyengine.log.recognise import is_recording

    keep_inputs(option, output, inputs)
    path = Path(output)
    if path.is_dir():
        raise InputError(f"{shown_path(output)}: is a folder; {option} takes a file")
    if path.is_file() and (what := is_recording(path)) is not None:
        raise InputError(f"{shown_path(output)}: is {what}, and {option} would overwrite it; write to another file")


@contextmanager
def writing(where: str | Path) -> Iterator[None]:
    """What is written within: raises `InputError` where the system refuses it."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{shown_path(where)}: cannot be written: {error.strerror or error}") from None


def _same(one: str | Path, other: str | Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)
