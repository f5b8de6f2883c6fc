"""The two sides of a diff: folders, single files, or either at a git revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policyengine.check import around
from policyengine.check.diff import git
from policyengine.kinds import bundle as bundles
from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.registry import KINDS
from policyengine.source.document import Document
from policyengine.source.errors import BundleError, InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.yaml import read_documents

Key = tuple[str, str]
"""Kind and name of a document."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A document that the installed version cannot use: why, and what it holds as far as that can be read."""

    why: str
    document: Document


@dataclass(frozen=True, slots=True)
class Side:
    """One side. `label` is how the person named it; `single` whether it is one file."""

    label: str
    bundle: Bundle
    single: bool
    broken: Mapping[Key, Broken] = field(default_factory=dict)
    """What cannot be used: only an old side may have some, since it is often written for an older version."""
    wrong: tuple[str, ...] = ()
    """What else is wrong with an old side: files that cannot be read at all."""


def side(given: str, stack: ExitStack, *, old: bool = False) -> Side:
    """A path, or `REV:PATH` where there is no such path. Raises InputError, BundleError."""
    path = Path(given)
    if path.exists():
        return _loaded(given, path, old)
    revision, colon, inside = given.partition(":")
    if not colon or not revision:
        raise InputError(f"{given}: there is no such file or folder; a git revision is written REV:PATH")
    at = git.revision(revision, given, Path())
    return _unpacked(at, git.inside(at, inside), stack, old)


def at_revision(revision: str, path: str, stack: ExitStack) -> Side:
    """The old side that a path of this machine is at a revision of its repository. Raises InputError, BundleError."""
    where = Path(path)
    if not where.exists():
        raise InputError(f"{path}: there is no such file or folder; --git compares it with itself at a revision")
    at = git.revision(revision, f"{revision}:{path}", where if where.is_dir() else where.parent)
    return _unpacked(at, git.of_path(at, where), stack, old=True)


def _unpacked(at: git.Revision, path: str, stack: ExitStack, old: bool) -> Side:
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="policyengine-")))
    return _loaded(at.label, git.unpacked(at, path, folder), old)


def _loaded(label: str, path: Path, old: bool) -> Side:
    bundle, findings = around.read_around(path)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if bundle is not None and old and errors:
        return _partly(label, path, bundle, errors)
    try:
        return Side(label, around.usable(bundle, findings, path), path.is_file())
    except BundleError as error:
        text, own = str(error), str(path)
        shown = f"{path.name}{text[len(own) :]}" if text.startswith(own) else text
        raise BundleError(f"{label}: {shown}", error.findings) from None
    except InputError:
        raise InputError(f"{label}: {bundles.NOTHING_DECIDES}") from None


def _partly(label: str, path: Path, bundle: Bundle, errors: Sequence[Finding]) -> Side:
    """An old side of which some cannot be used."""
    usable = {_key(document.data) for document in bundle.documents if _works(document, bundle)}
    files = sorted({Path(finding.place.file) for finding in errors})
    read = [*bundle.documents, *(one for file in files if file.is_file() for one in read_documents(file)[0])]
    broken: dict[Key, Broken] = {}
    explained: set[Finding] = set()
    for document in read:
        key = _key(document.data)
        if key is None or key in usable or key in broken:
            continue
        own = [finding for finding in errors if _is_in(finding, document, read)]
        explained.update(own)
        why = _says(own[0], path) if own else "something that it uses cannot be read"
        broken[key] = Broken(why, document)
    return Side(
        label,
        replace(
            bundle,
            documents=tuple(d for d in bundle.documents if _key(d.data) in usable),
            use={kind: name for kind, name in bundle.use.items() if (kind, name) not in broken},
        ),
        path.is_file(),
        broken,
        tuple(dict.fromkeys(_says(finding, path) for finding in errors if finding not in explained)),
    )


def _works(document: Document, bundle: Bundle) -> bool:
    kind = KINDS.get(document.data["kind"])
    return kind is None or kind.build is None or document.data["metadata"]["name"] in bundle.policies


def _key(data: Any) -> Key | None:
    """Kind and name of a document that says both, and is compared."""
    if not isinstance(data, dict) or not isinstance(data.get("metadata"), dict):
        return None
    kind, name = data.get("kind"), data["metadata"].get("name")
    if not isinstance(kind, str) or not isinstance(name, str) or kind in (bundles.TESTS, "Bundle"):
        return None
    return kind, name


def _is_in(finding: Finding, document: Document, read: Sequence[Document]) -> bool:
    """Whether a finding is about the document: the last one of its file that begins before it."""
    if finding.place.file != document.file:
        return False
    begins = max((d.place() for d in read if d.file == document.file and d.place() <= finding.place), default=None)
    return begins == document.place() or (begins is None and document.index == 0)


def _says(finding: Finding, path: Path) -> str:
    """A finding with the name of its file below the side, which may lie in a folder that nobody has heard of."""
    file = Path(finding.place.file)
    shown = file.relative_to(path).as_posix() if path.is_dir() and file.is_relative_to(path) else file.name
    return f"{replace(finding.place, file=shown)}: {finding.message}"


def completed(bundle: Bundle) -> Bundle:
    """A bundle in which every kind that it lacks is the built-in one: so a single file can be replayed."""
    built_in = load()
    own = {policy.kind.name for policy in bundle.policies.values()}
    rest = {
        name: one for name, one in built_in.policies.items() if one.kind.name not in own and name not in bundle.policies
    }
    use = {kind: name for kind, name in built_in.use.items() if kind not in own}
    return replace(bundle, policies={**bundle.policies, **rest}, use={**use, **bundle.use})
