"""Which bundle the given paths belong to: a file is linted within the bundle around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policyengine.kinds.bundle import SUFFIXES
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding
from policyengine.source.resources import policies_folder
from policyengine.source.text import shown_path

LOCAL = Path("policies")
"""Where a project's own bundle is when nobody says."""

_MANIFEST = re.compile(rb"^kind:[ \t]*[\"']?Bundle\b", re.MULTILINE)
_PROJECT = (".git", "pyproject.toml", "policyengine.toml")
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Target:
    """A bundle to lint. `only` are the files and folders in it that were asked about; empty for all of it."""

    root: Path
    only: tuple[Path, ...] = ()
    built_in: bool = False

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is about what was asked about."""
        if not self.only:
            return True
        file = Path(finding.place.file)
        return any(file == path or path in file.parents for path in self.only)


def targets(paths: Sequence[Path]) -> list[Target]:
    """The bundles of some paths, each once. Raises InputError for a path that is not there."""
    if not paths:
        return [Target(LOCAL)] if LOCAL.is_dir() else [Target(policies_folder(), built_in=True)]
    asked: dict[Path, list[Path]] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{shown_path(path)}: there is no such file or folder; give policies or a folder of them")
        root = _bundle_around(path) or path
        asked.setdefault(root, []).append(path)
    return [Target(root, () if root in only else tuple(only)) for root, only in asked.items()]


def _bundle_around(path: Path) -> Path | None:
    """The nearest folder from `path` up that holds a Bundle document; not beyond the project it lies in."""
    folder = path if path.is_dir() else path.parent
    for _ in range(len(folder.resolve().parts)):
        if any(_is_manifest(file) for file in sorted(folder.glob("*.y*ml"))):
            return folder
        if any((folder / name).exists() for name in _PROJECT):
            return None
        # `a/..` would name the same folder by another path than the files found in it.
        folder = folder.parent if folder.name not in ("", "..") else folder / ".."
    return None


def _is_manifest(file: Path) -> bool:
    if file.suffix not in SUFFIXES or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return _MANIFEST.search(stream.read(_LOOKED_AT)) is not None
    except OSError:
        return False
