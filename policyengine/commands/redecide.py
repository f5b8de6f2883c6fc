"""The part of `policyengine replay` that takes decision logs: recorded inputs, decided again by a bundle."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path

import click

from policyengine.commands.max_changed import MaxChanged
from policyengine.commands.options import NO_RECORD, counted, load_bundle, noun, print_json, print_jsonl, thousands
from policyengine.commands.outputs import keep_inputs, writing
from policyengine.log.recognise import SQLITE_SUFFIXES, is_record
from policyengine.log.redecide.moves import Example, Moves
from policyengine.source.errors import InputError
from policyengine.source.render import printable
from policyengine.source.text import shown_path

_BINARY = (".parquet", *SQLITE_SUFFIXES)
_LOOKED_AT = 20
"""Lines that are looked at to tell a decision log from a session."""


def are_logs(paths: Sequence[str]) -> bool:
    """Whether these are decision logs, not sessions. Raises `InputError` where some are and some are not."""
    found = [_is_log(Path(path)) for path in paths]
    if any(found) and not all(found):
        raise InputError(f"{paths[found.index(False)]}: is a session, others are decision logs; replay them apart")
    return any(found)


def _is_log(path: Path) -> bool:
    if path.suffix in _BINARY:
        return path.exists()
    try:
        if path.is_dir():
            return any(_is_log(one) for one in path.iterdir() if one.is_file())
        if not path.is_file():
            return False  # What is no plain file can be read only once.
        with path.open("rb") as file:
            return any(map(is_record, islice(file, _LOOKED_AT)))
    except OSError:
        return False


def run(
    paths: Sequence[str], bundle: str | None, max_changed: MaxChanged | None, engine: str, output: str | None, form: str
) -> None:  # fmt: skip
    """Decide again and print how outcomes moved. Exit status 1 where more changed than allowed."""
    from policyengine.log.read import log_files
    from policyengine.log.redecide.batch import packed
    from policyengine.log.redecide.engines import run as redecide

    files = log_files(paths)
    if output is not None:
        _prepare(Path(output), files)
    loaded = load_bundle(bundle)
    with _progress() as progress, writing(output) if output is not None else nullcontext():
        moves = redecide(files, packed(str(loaded.path)), engine=engine, output=output, progress=progress)
    if form == "text":
        click.echo(_text(moves))
    else:
        (print_json if form == "json" else print_jsonl)(moves.as_json())
    # A policy that is gone decides none of its records as before.
    gone = sum(moves.no_policy.values())
    if max_changed is not None and (why := max_changed.refusal(moves.moved + gone, moves.decided + gone)):
        click.echo(f"policyengine: {why}", err=True)
        sys.exit(1)


def _prepare(output: Path, files: Sequence[Path]) -> None:
    """See that the folder can be written, before anything is decided. Raises `InputError`."""
    if output.exists() and not output.is_dir():
        raise InputError(f"{shown_path(output)}: is no folder; --output takes a folder for Parquet files")
    keep_inputs("--output", output, {path.parent for path in files if path.suffix == ".parquet"})
    with writing(output):
        output.mkdir(parents=True, exist_ok=True)


def _text(moves: Moves) -> str:
    share = f" ({moves.moved / moves.decided:.2%})" if moves.decided else ""
    lines = [
        f"{counted(moves.records, 'record')}: {thousands(moves.decided)} decided again, "
        f"{thousands(moves.moved)} changed{share}"
    ]
    for move, number in moves.ordered():
        lines.append(f"{thousands(number):>9}  {move.policy}: {move.before}  →  {move.after}")
        lines += [f"           {_example(one)}" for one in moves.examples[move]]
    for (policy, fields), number in sorted(moves.masked.items()):
        lines.append(f"{thousands(number):>9}  {policy}: cannot be decided again, {fields} is masked in the log")
    for policy, number in sorted(moves.no_policy.items()):
        lines.append(f"{thousands(number):>9}  {policy}: the bundle has no such policy")
    if moves.unreadable:
        lines.append(f"{thousands(moves.unreadable):>9}  {noun(moves.unreadable, *NO_RECORD)}")
    lines.append(f"digest of the new decisions {moves.digest:064x}")
    return "\n".join(map(printable, lines))


def _example(one: Example) -> str:
    time, session, number, seq = one
    parts = [session, f"round {number}" if number else "", f"record {seq}" if seq else "", time[:19]]
    return "  ".join(part for part in parts if part)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr, and only on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("deciding again"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
