"""Where something stands in a file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a text file, as an editor counts it; without a line, the file as a whole.

    Lines and columns start at 1 and count characters (code points), not bytes. `end_line` and
    `end_column` point just past the last character; they equal the start where the extent is unknown.
    A file as a whole (one that is not there, or cannot be read) has line and column 1 for programs; a
    person is shown the file's name alone.
    """

    file: str
    line: int = 0
    column: int = 1
    end_line: int = 0
    end_column: int = 0
    whole: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.line == 0:
            object.__setattr__(self, "whole", True)
            object.__setattr__(self, "line", 1)
        if self.end_line == 0:
            object.__setattr__(self, "end_line", self.line)
        if self.end_column == 0:
            object.__setattr__(self, "end_column", self.column)

    def __str__(self) -> str:
        return self.file if self.whole else f"{self.file}:{self.line}:{self.column}"
