"""What several commands take, and how they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.core import ParameterSource

from policyengine.source.counts import counted, noun, thousands

if TYPE_CHECKING:
    from policyengine.kinds.bundle import Bundle
    from policyengine.sessions import Session

__all__ = [
    "NO_RECORD", "bundle_folder", "bundle_option", "counted", "load_bundle", "noun", "print_json", "print_jsonl",
    "read_session", "refuse_idle", "say_bundle", "say_none_counted", "say_unreadable", "thousands", "wants_color",
]  # fmt: skip

NO_RECORD = ("line is no record", "lines are no records")
"""One line, several lines of a log that hold no record."""

bundle_option = click.option(
    "--bundle",
    metavar="DIR",
    default=None,
    help="Folder of policies; without it ./policies where there is one, else the built-in bundle.",
)

_DECIDED = "policyengine.decided"
_DIGEST = 12
"""Characters of a digest that are shown: enough to tell bundles apart."""


def bundle_folder(given: str | None) -> str | Path | None:
    """Which policies a command decides by: those given, else ./policies where there is one; None is the built-in."""
    from policyengine.check.around import LOCAL

    return given if given is not None else LOCAL if LOCAL.is_dir() else None


def load_bundle(given: str | None) -> Bundle:
    """The bundle that a command decides by; where nobody named it, `say_bundle` says which it was.

    A file is read within the bundle around it. Raises `BundleError` and `InputError` as `load` does.
    """
    from policyengine.check.around import load_around
    from policyengine.kinds.bundle import BUILT_IN
    from policyengine.source.errors import BundleError, InputError

    folder = bundle_folder(given)
    try:
        loaded = load_around(folder)
    except (BundleError, InputError) as error:
        if given is not None or folder is None:
            raise
        way = f"./{folder} decides without --bundle DIR; `--bundle {BUILT_IN}` is the bundle of this package"
        raise InputError(f"{error}; {way}") from None
    if given is None:
        click.get_current_context().meta[_DECIDED] = loaded
    return loaded


def say_bundle(ctx: click.Context) -> None:
    """Say on stderr which bundle has decided, where nobody named it."""
    from policyengine.source.render import printable
    from policyengine.source.resources import policies_folder
    from policyengine.source.text import shown_path

    bundle: Bundle | None = ctx.meta.get(_DECIDED)
    if bundle is None:
        return
    which = "the built-in bundle" if bundle.path == policies_folder() else f"the bundle {shown_path(bundle.path)}"
    about = f"{bundle.name} {bundle.version}, digest {bundle.digest[:_DIGEST]}"
    # What stands beside the answer does not hold it up.
    with suppress(OSError):
        click.echo(printable(f"policyengine: {which} decided ({about})"), err=True)


def read_session(path: str, progress: Callable[[int, int], None] | None = None) -> Session:
    """The session in a file, or on stdin where `path` is `-`. Raises `InputError`."""
    from policyengine.sessions import read, read_bytes

    return read_bytes(sys.stdin.buffer.read(), "stdin") if path == "-" else read(path, progress=progress)


def refuse_idle(why: str, *names: str) -> None:
    """Refuse options that would have no effect: `why` follows the name of the first of these that was given.

    `names` are parameters of the command that runs. An option with a default counts only where a person wrote it.
    """
    ctx = click.get_current_context()
    for param in ctx.command.params:
        written = param.name in names and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
        if written:
            raise click.UsageError(f"{max(param.opts, key=len)} {why}")


def say_none_counted(records: int) -> None:
    """Say on stderr that nothing was counted: then no number says anything."""
    if not records:
        click.echo("nothing was counted: no record of these logs lies in that period", err=True)


def say_unreadable(lines: int, first: str | None = None) -> None:
    """Say on stderr how many lines of a log hold no record, and where the first of them is."""
    if lines:
        click.echo(counted(lines, *NO_RECORD) + (f"; the first is {first}" if first else ""), err=True)


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
