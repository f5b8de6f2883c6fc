"""The two sides of a diff: folders, single files, or either at a git revision."""

from __future__ import annotations

import io
import subprocess
import tarfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from policyengine.kinds.bundle import Bundle, load
from policyengine.source.errors import BundleError, InputError


@dataclass(frozen=True, slots=True)
class Side:
    """One side. `label` is how the person named it; `single` whether it is one file."""

    label: str
    bundle: Bundle
    single: bool


def side(given: str, stack: ExitStack) -> Side:
    """A path, or `REV:PATH` where there is no such path. Raises InputError, BundleError."""
    path = Path(given)
    if path.exists():
        return _loaded(given, path)
    revision, colon, inside = given.partition(":")
    if not colon or not revision or not inside:
        raise InputError(f"{given}: there is no such file or folder; a git revision is written REV:PATH")
    return at_revision(revision, inside, stack)


def at_revision(revision: str, path: str, stack: ExitStack) -> Side:
    """A path of the repository of the current folder, as it is at a revision. Raises InputError, BundleError."""
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="policyengine-")))
    try:
        with tarfile.open(fileobj=io.BytesIO(_archive(revision, path))) as archive:
            archive.extractall(folder, filter="data")
    except tarfile.FilterError as error:
        name = PurePath(error.tarinfo.name).name
        raise InputError(
            f"{revision}:{path}: {name} is a link to outside of the folder; put the file in its place"
        ) from None
    except (tarfile.TarError, OSError):
        raise InputError(f"{revision}:{path}: what git gives cannot be unpacked") from None
    return _loaded(f"{revision}:{path}", folder / path)


def _archive(revision: str, path: str) -> bytes:
    if revision.startswith("-") or Path(path).is_absolute() or ".." in Path(path).parts:
        raise InputError(f"{revision}:{path}: give a revision and a path below the current folder")
    try:
        found = subprocess.run(
            ["git", "archive", "--format=tar", revision, "--", path], capture_output=True, check=False, timeout=60
        )
    except FileNotFoundError:
        raise InputError(f"{revision}:{path}: git is not installed") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{revision}:{path}: git took longer than 60 s") from None
    if found.returncode:
        lines = found.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{revision}:{path}: {lines[-1] if lines else 'git cannot read it'}")
    return found.stdout


def _loaded(label: str, path: Path) -> Side:
    try:
        return Side(label, load(path), path.is_file())
    except BundleError as error:
        text, own = str(error), str(path)
        shown = f"{path.name}{text[len(own) :]}" if text.startswith(own) else text
        raise BundleError(f"{label}: {shown}", error.findings) from None


def completed(bundle: Bundle) -> Bundle:
    """A bundle in which every kind that it lacks is the built-in one: so a single file can be replayed."""
    built_in = load()
    own = {policy.kind.name for policy in bundle.policies.values()}
    rest = {
        name: one for name, one in built_in.policies.items() if one.kind.name not in own and name not in bundle.policies
    }
    use = {kind: name for kind, name in built_in.use.items() if kind not in own}
    return replace(bundle, policies={**bundle.policies, **rest}, use={**use, **bundle.use})
