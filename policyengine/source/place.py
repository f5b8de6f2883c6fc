"""Where something stands in a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a text file, as an editor counts it.

    Lines and columns start at 1 and count characters (code points), not bytes. `end_line` and
    `end_column` point just past the last character; they equal the start where the extent is unknown.
    """

    file: str
    line: int = 1
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __post_init__(self) -> None:
        if self.end_line == 0:
            object.__setattr__(self, "end_line", self.line)
        if self.end_column == 0:
            object.__setattr__(self, "end_column", self.column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
