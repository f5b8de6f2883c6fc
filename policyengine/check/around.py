"""Which bundle lies around a path: the nearest folder from it up that holds a Bundle document."""

from __future__ import annotations

import re
from pathlib import Path

from policyengine.kinds.bundle import SUFFIXES

LOCAL = Path("policies")
"""Where a project's own bundle is when nobody says."""

_MANIFEST = re.compile(rb"^kind:[ \t]*[\"']?Bundle\b", re.MULTILINE)
_PROJECT = (".git", "pyproject.toml", "policyengine.toml")
_LOOKED_AT = 4096


def bundle_around(path: Path) -> Path | None:
    """The bundle that a file or folder lies in; None where there is none in the project around it."""
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
