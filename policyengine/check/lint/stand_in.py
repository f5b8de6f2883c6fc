"""A text that an editor holds, linted in the place of a file: the bundle around it stays as it is on the disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from policyengine.check.around import bundle_around
from policyengine.check.lint.engine import Report
from policyengine.check.lint.targets import Target
from policyengine.kinds.bundle import SUFFIXES, files
from policyengine.source.errors import InputError
from policyengine.source.finding import Edit, Finding
from policyengine.source.place import Place
from policyengine.source.text import shown_path


@dataclass(frozen=True, slots=True)
class StandIn:
    """A copy of a bundle with one file replaced: `target` is what to lint, `real` is where its configuration lies."""

    target: Target
    real: Path
    copy: str
    shown: str

    def report(self, found: Report) -> Report:
        """What lint found, under the names of the real files."""
        findings = tuple(self._finding(finding) for finding in found.findings)
        texts = {self._name(name): text for name, text in found.texts.items()}
        return Report(findings, texts, tuple(map(self._name, found.unchecked)))

    def _name(self, text: str) -> str:
        return text.replace(self.copy, self.shown)

    def _finding(self, finding: Finding) -> Finding:
        fix = finding.fix
        return replace(
            finding,
            place=self._place(finding.place),
            message=self._name(finding.message),
            hint=self._name(finding.hint) if finding.hint is not None else None,
            fix=fix and replace(fix, edits=tuple(Edit(self._place(edit.place), edit.text) for edit in fix.edits)),
        )

    def _place(self, place: Place) -> Place:
        # A place that is a whole file says so by its line 0; `replace` would give it one.
        return replace(place, file=self._name(place.file), line=0 if place.whole else place.line)


@contextmanager
def standing_in(file: Path, data: bytes) -> Iterator[StandIn]:
    """`data` in the place of `file`, which need not be there. Raises `InputError` where it cannot be a policy file."""
    if file.suffix not in SUFFIXES:
        raise InputError(f"{shown_path(file)}: policies are YAML files (*.yaml, *.yml); name the text like one")
    if not file.parent.is_dir():
        raise InputError(f"{shown_path(file)}: there is no such folder; name the text like a file of the bundle")
    root = bundle_around(file)
    with tempfile.TemporaryDirectory(prefix="policyengine-") as scratch:
        folder = Path(scratch) / "policies"
        folder.mkdir()
        if root is None:
            mine, target, real = folder / file.name, folder / file.name, file.parent
        else:
            for one in files(root):
                there = folder / one.relative_to(root)
                there.parent.mkdir(parents=True, exist_ok=True)
                there.symlink_to(one.resolve())
            mine, target, real = folder / file.resolve().relative_to(root.resolve()), folder, root
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.unlink(missing_ok=True)
        mine.write_bytes(data)
        shown = shown_path(file.parent if root is None else root)
        yield StandIn(Target(target, () if root is None else (mine,)), real, os.fspath(folder), shown)
