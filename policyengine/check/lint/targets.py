"""Which bundle the given paths belong to: a file is linted within the bundle around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policyengine.check.around import LOCAL, bundle_around
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding
from policyengine.source.resources import policies_folder
from policyengine.source.text import shown_path


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
        root = bundle_around(path) or path
        asked.setdefault(root, []).append(path)
    return [Target(root, () if root in only else tuple(only)) for root, only in asked.items()]
