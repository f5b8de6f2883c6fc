"""Counts for a person: with spaces between thousands, followed by the singular where there is one."""

from __future__ import annotations


def thousands(value: float | int | None) -> str:
    """A count for a person: 167 094."""
    return "–" if value is None else f"{value:,.0f}".replace(",", " ")


def number(value: float | int) -> str:
    """A number for a person, with its fraction where it has one: 167 094, 0.85."""
    return f"{value:,}".replace(",", " ")


def counted(number: float | int | None, one: str, many: str | None = None) -> str:
    """A count with what is counted: 1 record, 2 000 records; `many` where the plural is not `one` with an s."""
    return f"{thousands(number)} {noun(number, one, many)}"


def noun(number: float | int | None, one: str, many: str | None = None) -> str:
    """What is counted, as it is called where there are so many."""
    return one if number == 1 else many or f"{one}s"
