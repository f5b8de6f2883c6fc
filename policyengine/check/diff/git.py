"""Files as they are at a git revision, named as git names them: `REV:PATH` counts from the top of the repository,
`REV:./PATH` from the current folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from policyengine.check.around import PROJECT_FILES, bundle_around
from policyengine.kinds.bundle import SUFFIXES
from policyengine.source.errors import InputError

_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of one repository. `label` is how the person named the path at it, for messages."""

    label: str
    name: str
    top: Path
    """The top folder of the repository, where git runs."""
    prefix: str
    """The current folder in the repository, with `/` at the end; empty at the top."""
    files: tuple[str, ...]
    """Every file at that revision, from the top."""


def revision(name: str, label: str, folder: Path) -> Revision:
    """A revision of the repository that a folder lies in. Raises `InputError`."""
    try:
        top, prefix = (
            _git(folder, "rev-parse", option).decode(errors="surrogateescape").removesuffix("\n")
            for option in ("--show-toplevel", "--show-prefix")
        )
    except _GitError:
        raise InputError(f"{label}: {folder.resolve()} is in no git repository (with files)") from None
    if name.startswith("-") or not name:
        raise InputError(f"{label}: {name!r} is no revision; give a commit, a branch or a tag")
    try:
        _git(Path(top), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{tree}}")
    except _GitError:
        raise InputError(
            f"{label}: this repository has no revision `{name}`; give a commit, a branch or a tag"
        ) from None
    listed = _git(Path(top), "ls-tree", "-r", "-z", "--name-only", "--full-tree", name)
    files = tuple(listed.decode(errors="surrogateescape").split("\0")[:-1])
    return Revision(label, name, Path(top), prefix, files)


def inside(at: Revision, written: str) -> str:
    """The path that a person wrote behind `REV:`, from the top; `.` for all. Raises `InputError`."""
    relative = written in (".", "..") or written.startswith(("./", "../"))
    path = os.path.normpath(PurePosixPath(at.prefix if relative else "", written or "."))
    if os.path.isabs(path) or path == ".." or path.startswith("../"):
        raise InputError(
            f"{at.label}: the path leads out of the repository; write it from the top of the repository, "
            "or from this folder with ./"
        )
    if not _under(at, path):
        here = os.path.normpath(PurePosixPath(at.prefix, written))
        hint = (
            f"; did you mean {at.name}:./{written}?" if at.prefix and not relative and _under(at, here)
            else "; a path counts from the top of the repository, with ./ from this folder"
        )  # fmt: skip
        raise InputError(f"{at.label}: there is no `{path}` at this revision{hint}")
    return path


def of_path(at: Revision, path: Path) -> str:
    """The path at the revision of a file or folder of this machine. Raises `InputError`."""
    # The parent's links are followed, as git does; the last name is what is asked for.
    real = path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()
    try:
        found = real.relative_to(at.top.resolve()).as_posix()
    except ValueError:
        raise InputError(f"{at.label}: {path} is not in the repository {at.top}") from None
    if not _under(at, found):
        raise InputError(f"{at.label}: there is no `{found}` at this revision")
    return found


def unpacked(at: Revision, path: str, folder: Path) -> Path:
    """Write a path of the revision into an empty folder, a file with the bundle around it. Raises `InputError`."""
    if path not in at.files:
        _extract(at, [] if path == "." else [path], folder)
        return folder / path
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    beside = [
        name for name in at.files
        if str(PurePosixPath(name).parent) in parents
        and (PurePosixPath(name).suffix in SUFFIXES or PurePosixPath(name).name in PROJECT_FILES)
    ]  # fmt: skip
    _extract(at, list({path: None, **dict.fromkeys(beside)}), folder)
    (folder / ".git").touch()  # the search for the bundle around the file ends here
    root = bundle_around(folder / path)
    if root is not None:
        _extract(at, [] if root == folder else [root.relative_to(folder).as_posix()], folder)
    return folder / path


def _under(at: Revision, path: str) -> bool:
    return path == "." or any(name == path or name.startswith(f"{path}/") for name in at.files)


def _extract(at: Revision, paths: list[str], folder: Path) -> None:
    """Write some paths (all, where none is given) into a folder, as they are stored.

    Not by `git archive`: that runs the filters that a repository names, and leaves out what its attributes say.
    """
    try:
        listed = _git(at.top, "--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", at.name, "--", *paths)
        wanted = [one for row in listed.split(b"\0")[:-1] if (one := _entry(row)).kind == "blob"]
        contents = _blobs(at, [one.number for one in wanted])
        # Links last, so that no file is written through one.
        for one, content in sorted(zip(wanted, contents, strict=True), key=lambda pair: pair[0].is_link):
            target = folder / one.name
            if ".." in target.parts:
                raise _GitError
            target.parent.mkdir(parents=True, exist_ok=True)
            if one.is_link:
                target.symlink_to(os.fsdecode(content))
            else:
                target.write_bytes(content)
    except (_GitError, OSError, ValueError):
        raise InputError(f"{at.label}: what git gives cannot be unpacked") from None
    inside = os.path.realpath(folder)
    for one in wanted:
        if one.is_link and os.path.commonpath([inside, os.path.realpath(folder / one.name)]) != inside:
            name = PurePath(one.name).name
            raise InputError(f"{at.label}: {name} is a link to outside of the folder; put the file in its place")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One file, link or submodule of a revision."""

    mode: str
    kind: str
    number: bytes
    name: str

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"


def _entry(row: bytes) -> _Entry:
    about, _, name = row.partition(b"\t")
    mode, kind, number = about.split(b" ")
    return _Entry(mode.decode(), kind.decode(), number, os.fsdecode(name))


def _blobs(at: Revision, numbers: list[bytes]) -> Iterator[bytes]:
    """The contents of objects, in that order. Raises `_GitError` where one is missing."""
    found = _git(at.top, "cat-file", "--batch", given=b"".join(number + b"\n" for number in numbers))
    start = 0
    for _ in numbers:
        end = found.index(b"\n", start)
        head = found[start:end].split(b" ")
        if len(head) != 3:
            raise _GitError
        start = end + 1 + int(head[2])
        yield found[end + 1 : start]
        start += 1


class _GitError(Exception):
    """Git refused; what it says is for its own users."""


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    # Objects that are not here are not fetched, and nobody is asked for a password.
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        found = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            input=given,
            env=environment,
        )
    except FileNotFoundError:
        raise InputError("git is not installed, or not found; a revision is read with it") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"git took longer than {_TIMEOUT_S} s") from None
    except OSError as error:
        raise InputError(f"git cannot be run in {folder}: {error.strerror}") from None
    if found.returncode:
        raise _GitError
    return found.stdout
