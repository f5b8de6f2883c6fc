"""What several commands take, and how they print."""

from __future__ import annotations

import json
import sys
from typing import Any, TextIO

import click

from policyengine.source.counts import counted, noun, thousands

__all__ = ["NO_RECORD", "bundle_option", "counted", "noun", "print_json", "print_jsonl", "thousands", "wants_color"]

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


def wants_color(stream: TextIO | None = None) -> bool:
    """Whether a stream (stdout) takes colour: only a terminal does, and only where nobody has asked for none."""
    import os

    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR")
