"""What every format is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from policyengine.check.lint.rule import Rule
from policyengine.source.finding import Finding
from policyengine.source.render import in_order


@dataclass(frozen=True)
class Results:
    """Findings, the texts of the files they are in, and the rules that were asked.

    `root` is the folder that file names are shown below: the top of the repository, for tools that show findings there.
    """

    findings: tuple[Finding, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    version: str = "0"
    root: Path = Path()

    @cached_property
    def ordered(self) -> list[Finding]:
        """The findings without doubles, by place."""
        return in_order(self.findings)

    def files(self) -> list[str]:
        """Every file that was looked at, by name."""
        return sorted({*self.texts, *(finding.place.file for finding in self.findings)})

    def path(self, file: str) -> str:
        """A file's name below the root, with forward slashes; as it is where it lies elsewhere."""
        path = Path(file)
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix() if path.is_absolute() else path.as_posix()
        except ValueError:
            return path.as_posix()

    def uri(self, file: str) -> str:
        """The same as a URI reference."""
        path = self.path(file)
        return f"file://{quote(path)}" if path.startswith("/") else quote(path)

    def fingerprints(self) -> Iterator[tuple[Finding, str]]:
        """Each finding with a hash that stays when lines above it come or go: of its file, rule and source line."""
        lines = {file: text.splitlines() for file, text in self.texts.items()}
        seen: dict[str, int] = {}
        for finding in self.ordered:
            place = finding.place
            text = lines.get(place.file, [])
            source = text[place.line - 1].strip() if place.line <= len(text) else ""
            content = "\0".join((self.path(place.file), finding.code, source, finding.message))
            seen[content] = seen.get(content, 0) + 1
            yield finding, hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()


def clean(text: str) -> str:
    """Text without characters that XML cannot hold or a terminal would act on."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
