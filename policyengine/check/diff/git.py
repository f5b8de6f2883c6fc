"""Files as they are at a git revision, named as git names them: `REV:PATH` counts from the top of the repository,
`REV:./PATH` from the current folder."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
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
    try:
        found = _git(at.top, "--literal-pathspecs", "archive", "--format=tar", at.name, "--", *paths)
        with tarfile.open(fileobj=io.BytesIO(found)) as archive:
            archive.extractall(folder, filter="data")
    except tarfile.FilterError as error:
        name = PurePath(error.tarinfo.name).name
        raise InputError(f"{at.label}: {name} is a link to outside of the folder; put the file in its place") from None
    except (_GitError, tarfile.TarError, OSError):
        raise InputError(f"{at.label}: what git gives cannot be unpacked") from None


class _GitError(Exception):
    """Git refused; what it says is for its own users."""


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        found = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
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
