"""What several commands take, and how they print."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

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
