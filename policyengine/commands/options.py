"""What several commands take, and how they print."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

NO_RECORD = ("line is no record", "lines are no records")
"""One line, several lines of a log that hold no record."""

bundle_option = click.option(
    "--bundle",
    metavar="DIR",
    default=None,
    help="Folder of policies; without it the built-in bundle.",
)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_jsonl(value: Any) -> None:
    """One line of JSON on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def wants_color() -> bool:
    """Whether stdout takes colour: only a terminal does, and only where nobody has asked for none."""
    import os

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def thousands(value: float | int | None) -> str:
    """A count for a person: 167 094."""
    return "–" if value is None else f"{value:,.0f}".replace(",", " ")


def counted(number: float | int | None, one: str, many: str | None = None) -> str:
    """A count with what is counted: 1 record, 2 000 records; `many` where the plural is not `one` with an s."""
    return f"{thousands(number)} {noun(number, one, many)}"


def noun(number: float | int | None, one: str, many: str | None = None) -> str:
    """What is counted, as it is called where there are so many."""
    return one if number == 1 else many or f"{one}s"
