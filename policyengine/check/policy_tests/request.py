"""What to test: which bundles the given paths belong to, and how much of each is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from policyengine.check.around import bundle_around, local_bundle
from policyengine.kinds import bundle as bundles
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder
from policyengine.source.text import shown_path

MAX_SECONDS = 600.0
"""How long mutants are tried when nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to run. `paths` are test documents, policies, or folders of them; without any, the bundle's own tests."""

    paths: tuple[Path, ...] = ()
    bundle: Path | None = None
    show_coverage: bool = False
    min_percent: float | None = None
    """Share of the rules that has to decide in some case. None: all of them, where a whole bundle is tested."""
    mutants: bool = False
    max_seconds: float = MAX_SECONDS

    @property
    def folder(self) -> Path:
        """The bundle that the tests are about. Raises `InputError` where the paths lie in several."""
        if self.bundle is not None:
            return policies_folder() if bundles.is_built_in(self.bundle) else self.bundle
        return bundle_folder(self.paths)


def by_bundle(request: Request, *, whole: bool = False) -> list[Request]:
    """One request for each bundle that the paths lie in; with `whole`, for all of each.

    Raises `InputError` for a path that is not there, and with `whole` for one that lies in no bundle.
    """
    if request.bundle is not None or not request.paths:
        return [replace(request, paths=()) if whole else request]
    named = tuple(policies_folder() if bundles.is_built_in(path) else path for path in request.paths)
    request = replace(request, paths=named)
    asked: dict[Path, tuple[Path, list[Path]]] = {}
    loose: list[Path] = []
    for path in request.paths:
        folder = _around(path)
        if folder is not None:
            asked.setdefault(folder.resolve(), (folder, []))[1].append(path)
        elif whole:
            raise InputError(f"{shown_path(path)} lies in no bundle; say with --bundle which policies it is about")
        else:
            loose.append(path)
    if len(asked) > 1 and loose:
        shown = ", ".join(sorted(shown_path(folder) for folder, _ in asked.values()))
        raise InputError(f"{shown_path(loose[0])} may belong to several bundles ({shown}); say which with --bundle")
    if not asked:
        return [request]
    return [replace(request, paths=(folder,) if whole else (*paths, *loose)) for folder, paths in asked.values()]


def bundle_folder(paths: Sequence[Path]) -> Path:
    """The bundle that test documents at `paths` are about, where nobody says.

    That is the nearest folder around them with a Bundle document, else the folder itself where it holds policies;
    without paths ./policies. Raises `InputError` where there is no such folder.
    """
    found = {folder for path in paths if (folder := _around(path)) is not None}
    if len(found) > 1:
        shown = ", ".join(sorted(map(shown_path, found)))
        raise InputError(f"these tests belong to several bundles ({shown}); say which with --bundle")
    if found:
        return found.pop()
    return local_bundle("test")


def watched(request: Request) -> list[Path]:
    """The files whose change calls for another run."""
    return sorted({file for folder in (request.folder, *request.paths) for file in bundles.files(folder)})


def is_whole(request: Request, folder: Path) -> bool:
    """Whether the run takes in the whole bundle."""
    return not request.paths or any(path.resolve() == folder.resolve() for path in request.paths)


def all_count(request: Request, folder: Path) -> bool:
    """Whether rules of policies without a test count: not where a person has picked some tests.

    Tests that are kept apart from their bundle, and are asked for coverage, are all there are.
    """
    asked = request.show_coverage or request.min_percent is not None
    return is_whole(request, folder) or (request.bundle is not None and asked)


def min_percent(request: Request, folder: Path) -> float | None:
    """The share of rules that has to be covered; None where those that are not are only listed."""
    if request.min_percent is not None:
        return request.min_percent
    return 100.0 if request.show_coverage or is_whole(request, folder) else None


def _around(path: Path) -> Path | None:
    if not path.exists():
        raise InputError(f"{shown_path(path)}: there is no such file or folder; give tests, policies or a folder")
    if (found := bundle_around(path)) is not None:
        return found
    own = path if path.is_dir() else path.parent
    return own if any("kind:" in _text(file) for file in _yaml_files(own) if not is_test_file(file)) else None


def is_test_file(file: Path) -> bool:
    """Whether a file says by its name that it holds tests."""
    return file.suffix in bundles.SUFFIXES and file.stem.endswith(bundles.TEST_STEM)


def _yaml_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.y*ml")) if file.suffix in bundles.SUFFIXES and file.is_file()]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:100_000]
    except OSError:
        return ""
