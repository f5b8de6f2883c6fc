"""Which bundle the given paths belong to: a file is linted within the bundle around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policyengine.check.around import bundle_around, local_bundle
from policyengine.kinds.bundle import is_built_in
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
    """The bundles of some paths, each once; ./policies without any. Raises InputError for a path that is not there."""
    if not paths:
        return [Target(local_bundle("lint"))]
    asked: dict[Path, list[Path]] = {}
    built_in = [Target(policies_folder(), built_in=True)] if any(map(is_built_in, paths)) else []
    for path in paths:
        if is_built_in(path):
            continue
        if not path.exists():
            raise InputError(f"{shown_path(path)}: there is no such file or folder; give policies or a folder of them")
        root = bundle_around(path) or path
        asked.setdefault(root, []).append(path)
    return built_in + [Target(root, () if root in only else tuple(only)) for root, only in asked.items()]
