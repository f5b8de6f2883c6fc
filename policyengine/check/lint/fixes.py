"""Applying fixes: on a copy, again and again until nothing is left to fix, and only what keeps the files readable."""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.lint.targets import Target
from policyengine.kinds.bundle import files
from policyengine.source.finding import Edit, Finding, Fix
from policyengine.source.render import in_order
from policyengine.source.text import Lines, UnreadableError, read_text, shown_path

_PASSES = 20
"""More rounds than any chain of fixes needs: one that ends later goes round in circles."""

_BROKEN = ("yaml", "schema", "bundle")
_MARK = "\ufeff".encode()


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after."""

    file: Path
    old: str
    new: str

    def diff(self) -> str:
        """The change as a unified diff."""
        name = shown_path(self.file)
        old, new = self.old.splitlines(keepends=True), self.new.splitlines(keepends=True)
        lines = list(difflib.unified_diff(old, new, f"a/{name.lstrip('/')}", f"b/{name.lstrip('/')}"))
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Fixing:
    """What fixing a target comes to: the changes, how many findings are gone by them, and those that are left, counted
    by file and code."""

    changes: tuple[Change, ...] = ()
    gone: int = 0
    left: Mapping[tuple[str, str], int] = field(default_factory=dict)
    looked_at: frozenset[str] = frozenset()

    def remaining(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those of the findings from before that stay. Of several of one code, those with a fix go first."""
        left = Counter(self.left)
        kept: list[Finding] = []
        for finding in sorted(findings, key=lambda one: one.fix is not None and one.fix.safe):
            key = finding.place.file, finding.code
            if left[key] > 0 or finding.place.file not in self.looked_at:
                left[key] -= 1
                kept.append(finding)
        return in_order(kept)


def fixed(target: Target, config: Config, *, unsafe: bool = False) -> list[Change]:
    """What fixing the findings of a target changes. Nothing is written."""
    return list(fixing(target, config, unsafe=unsafe).changes)


def fixing(target: Target, config: Config, *, unsafe: bool = False) -> Fixing:
    """What fixing the findings of a target comes to. Nothing is written."""
    with tempfile.TemporaryDirectory(prefix="policyengine-fix-") as folder:
        copies = _copied(target.root, Path(folder))
        if not copies:
            return Fixing()
        before = {file: _read(copy) for file, copy in copies.items()}
        root = Path(folder) / "bundle" if target.root.is_dir() else next(iter(copies.values()))
        only = tuple(copies[path] if path in copies else root / path.relative_to(target.root) for path in target.only)
        first, last = _fix(Target(root, only), config, unsafe)
        after = {file: _read(copy) for file, copy in copies.items()}
    names = {shown_path(copy): shown_path(file) for file, copy in copies.items()}
    return Fixing(
        tuple(Change(file, before[file], after[file]) for file in before if before[file] != after[file]),
        len(first) - len(last),
        Counter((names.get(finding.place.file, finding.place.file), finding.code) for finding in last),
        frozenset(names.values()),
    )


def write(change: Change) -> None:
    """Write the new text of a file in one step, with the byte order mark that it had."""
    file = change.file.resolve()
    with file.open("rb") as stream:
        mark = _MARK if stream.read(len(_MARK)) == _MARK else b""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(mark + change.new.encode())
        shutil.copymode(file, name)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with some edits made, which do not overlap."""
    spans = sorted((_span(text, edit), edit.text) for edit in edits)
    for (start, end), new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def _copied(root: Path, folder: Path) -> dict[Path, Path]:
    """A copy, as plain UTF-8, of every file of the bundle that can be read."""
    copies: dict[Path, Path] = {}
    for file in files(root):
        try:
            text = read_text(file)
        except UnreadableError:
            continue
        copy = folder / "bundle" / (file.relative_to(root) if root.is_dir() else file.name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        _write(copy, text)
        copies[file] = copy
    return copies


def _read(file: Path) -> str:
    """The text with its line breaks as they are."""
    return file.read_bytes().decode()


def _write(file: Path, text: str) -> None:
    file.write_bytes(text.encode())


def _fix(target: Target, config: Config, unsafe: bool) -> tuple[list[Finding], list[Finding]]:
    """Fix what can be fixed; the findings before and after."""
    first = findings = _findings(target, config)
    for _ in range(_PASSES):
        wanted = _chosen(findings, unsafe)
        if not wanted:
            break
        old = {file: _read(Path(file)) for file in wanted}
        for file, edits in wanted.items():
            _write(Path(file), applied(old[file], edits))
        after = _findings(target, config)
        if _broken(after) > _broken(findings):
            for file, text in old.items():
                _write(Path(file), text)
            break
        findings = after
    return first, findings


def _findings(target: Target, config: Config) -> list[Finding]:
    return [finding for finding in lint(target.root, config).findings if target.covers(finding)]


def _broken(findings: Iterable[Finding]) -> int:
    return sum(finding.code in _BROKEN for finding in findings)


def _chosen(findings: Iterable[Finding], unsafe: bool) -> Mapping[str, list[Edit]]:
    """Edits by file that do not touch each other; a fix that would overlap waits for the next pass."""
    chosen: dict[str, list[Edit]] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe) or _overlaps(fix, chosen):
            continue
        for edit in fix.edits:
            chosen.setdefault(edit.place.file, []).append(edit)
    return chosen


def _overlaps(fix: Fix, chosen: Mapping[str, list[Edit]]) -> bool:
    return any(
        (_start(edit) < _end(other) and _start(other) < _end(edit)) or _start(edit) == _start(other)
        for edit in fix.edits
        for other in chosen.get(edit.place.file, ())
    )


def _start(edit: Edit) -> tuple[int, int]:
    return edit.place.line, edit.place.column


def _end(edit: Edit) -> tuple[int, int]:
    return edit.place.end_line, edit.place.end_column


def _span(text: str, edit: Edit) -> tuple[int, int]:
    lines = Lines(text, edit.place.file)
    return lines.offset(*_start(edit)), lines.offset(*_end(edit))
