"""The files that `policyengine run` writes: looked at before a model is paid for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from policyengine.source.errors import InputError
from policyengine.source.text import shown_path

_WRITTEN = ("--save", "--log", "--state")


def check_files(named: Mapping[str, str | None]) -> None:
    """Raises `InputError` where an option would overwrite the file of another, or the session could not be saved.

    `named` is the files by the option that names them; one that is no file (a URL) is left out.
    """
    given = [(option, Path(path)) for option, path in named.items() if path is not None]
    for index, (option, path) in enumerate(given):
        for other, second in given[index + 1 :]:
            # A session that is taken up may be saved where it was.
            if {option, other} == {"--resume", "--save"} or not {option, other} & set(_WRITTEN):
                continue
            if _same(path, second):
                raise InputError(f"{option} and {other} name the same file {shown_path(path)}; give each its own")
    if (save := named.get("--save")) is not None:
        _can_save(Path(save))


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _can_save(path: Path) -> None:
    """A session is written beside its place and moved there: what that needs is tried."""
    if path.is_dir():
        raise InputError(f"{shown_path(path)}: this is a folder; --save takes a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{shown_path(path)}: this is no regular file; --save puts a session in the place of a file")
    if path.is_file() and path.stat().st_size:
        _is_session(path)
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}."):
            pass
    except OSError as error:
        wrong = error.strerror or type(error).__name__
        raise InputError(f"{shown_path(path)}: the session cannot be saved here: {wrong}") from None


def _is_session(path: Path) -> None:
    from policyengine.runtime.transcript import is_saved_session

    if not is_saved_session(path):
        raise InputError(
            f"{shown_path(path)}: this file is no session that was saved here; --save would overwrite it, give another"
        )
