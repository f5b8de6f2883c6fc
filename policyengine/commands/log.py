"""`policyengine log`: questions about decision logs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policyengine.commands.options import (
    bundle_folder,
    bundle_option,
    counted,
    load_bundle,
    print_json,
    print_jsonl,
    say_none_counted,
    say_unreadable,
    thousands,
)
from policyengine.commands.outputs import keep_inputs

if TYPE_CHECKING:
    from policyengine.kinds.bundle import Bundle

_files = click.argument("files", nargs=-1, required=True, metavar="FILE...")
_since = click.option("--since", metavar="TIME", help="From this time on: 2026-03-01, or 30d, 12h, 30min ago.")
_until = click.option("--until", metavar="TIME", help="Before this time.")
_format = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)  # fmt: skip


@click.group(
    epilog="Example:  policyengine replay session.jsonl --log log.jsonl && policyengine log stats log.jsonl",
)
def command() -> None:
    """Decision logs: check, count, show, follow, query and export them.

    FILE is a JSONL, SQLite or Parquet log, or a folder of logs.
    """


@command.command("check", epilog="Example:  policyengine log check log.jsonl")
@_files
@click.option("--ends-with", metavar="HEX", help="The chain value that the log has to end with.")
@_format
def check_command(files: tuple[str, ...], ends_with: str | None, form: str) -> None:
    """Whether every record is there, in order, as it was written. Exit status 1 where not.

    Files that follow each other are given in that order (a folder is), so that the chain is followed through them.
    """
    from policyengine.log.chain import is_value
    from policyengine.log.check import Problem, check
    from policyengine.log.read import log_files
    from policyengine.source.errors import InputError

    if ends_with is not None and not is_value(ends_with.lower()):
        raise click.UsageError("--ends-with takes a chain value, 64 digits 0-9 and a-f, as `log check` prints it")
    found = check(log_files(files))
    if not found.records and not found.problems:
        raise InputError(f"{files[0]}: holds no record")
    if ends_with is not None and found.last_chain != ends_with.lower():
        message = "the log does not end with the given chain value; its end is missing or was rewritten"
        found.problems.append(Problem(files[-1], None, "gap", message))
    if form == "json":
        print_json(
            {
                "records": found.records,
                "dropped": found.dropped,
                "last_seq": found.last_seq,
                "last_chain": found.last_chain,
                "problems": [
                    {"file": p.file, "line": p.line, "kind": p.kind, "message": p.message} for p in found.problems
                ],
                "notes": found.notes,
            }
        )
    else:
        for line in (*map(str, found.problems), *found.notes):
            click.echo(line)
        lost = f", {thousands(found.dropped)} lost and counted" if found.dropped else ""
        end = f"; ends with record {found.last_seq}, chain {found.last_chain}" if found.last_chain else ""
        click.echo(f"{counted(found.records, 'record')}{lost}, {counted(len(found.problems), 'problem')}{end}")
    sys.exit(1 if found.problems else 0)


@command.command("stats", epilog="Example:  policyengine log stats log.jsonl --by veto")
@_files
@click.option(
    "--by", type=click.Choice(["veto", "policy", "kind", "model", "day", "session"]), help="Each group apart."
)
@_since
@_until
@_format
def stats_command(files: tuple[str, ...], by: str | None, since: str | None, until: str | None, form: str) -> None:
    """The metrics of a log: rates with their 95 % interval, exact percentiles, sample sizes."""
    from policyengine.commands.log_text import stats_text
    from policyengine.log.filters import period
    from policyengine.log.read import log_files
    from policyengine.log.scan import count
    from policyengine.log.stats import as_json

    counts = count(log_files(files), by, period(since, until))
    say_none_counted(counts.whole.records)
    found = as_json(counts, by)
    if form == "json":
        print_json(found)
    else:
        click.echo(stats_text(found))


@command.command("show", epilog="Example:  policyengine log show log.jsonl --kind Routing --veto write_tool --limit 5")
@_files
@click.option("--session", multiple=True, help="Of this session.")
@click.option("--turn", multiple=True, help="Of this turn.")
@click.option("--round", "number", multiple=True, type=int, help="Of this round.")
@click.option("--policy", multiple=True, help="Of this policy.")
@click.option("--kind", multiple=True, help="Of policies of this kind.")
@click.option("--rule", multiple=True, help="Decided by this rule.")
@click.option("--veto", multiple=True, help="With this veto.")
@click.option("--decision", multiple=True, type=click.Choice(["skip", "fast", "primary"]), help="Decided so.")
@click.option("--errors", is_flag=True, help="Only where something failed to evaluate.")
@click.option("--shadow-differs", is_flag=True, help="Only where the shadow bundle decided otherwise.")
@_since
@_until
@click.option("--limit", type=click.IntRange(min=0), default=50, help="At most so many records; 0 for all.")
@click.option("--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text", help="Output format.")
def show_command(
    files: tuple[str, ...], errors: bool, shadow_differs: bool, since: str | None, until: str | None, limit: int,
    form: str, **fields: Any,
) -> None:  # fmt: skip
    """Records, one a line; in JSON whole."""
    from itertools import islice

    from policyengine.commands.log_text import record_line
    from policyengine.log.filters import Filter, period
    from policyengine.log.known import refuse_unknown
    from policyengine.log.read import Unreadable, log_files, records

    names = {"session": "session_id", "turn": "turn_id", "number": "round", "veto": "veto_reason"}
    wanted = Filter(
        period(since, until),
        {names.get(name, name): frozenset(map(str, values)) for name, values in fields.items() if values},
        errors,
        shadow_differs,
    )
    unreadable = Unreadable()
    logs = log_files(files)
    refuse_unknown(logs, wanted.fields, _bundle())
    found = (record for path in logs for record in records(path, unreadable) if wanted.fits(record))
    chosen = islice(found, limit or None)
    shown = 0
    if form == "json":
        whole = list(chosen)
        shown = len(whole)
        print_json(whole)
    else:
        for shown, record in enumerate(chosen, 1):  # noqa: B007
            if form == "jsonl":
                print_jsonl(record)
            else:
                click.echo(record_line(record))
    if limit and shown == limit and next(found, None) is not None:
        click.echo(f"more records follow; --limit {limit} stops here", err=True)
    if not shown:
        click.echo("no record of these logs is meant by these options", err=True)
    say_unreadable(unreadable.count, unreadable.first)


@command.command("tail", epilog="Example:  policyengine log tail -f log.jsonl")
@click.argument("file", metavar="FILE")
@click.option("-f", "--follow", "forever", is_flag=True, help="Go on with what is added, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(min=0), default=10, help="So many records from the end.")
@click.option("--format", "form", type=click.Choice(["text", "jsonl"]), default="text", help="Output format.")
def tail_command(file: str, forever: bool, lines: int, form: str) -> None:
    """The last records of a JSONL log."""
    from policyengine.commands.log_text import record_line
    from policyengine.log.follow import follow
    from policyengine.log.lines import parse
    from policyengine.log.recognise import refuse_without_lines

    refuse_without_lines(Path(file))
    for line in follow(Path(file), lines, forever=forever):
        record = parse(line)
        if record is None:
            click.echo(f"{file}: a line is no record", err=True)
        elif form == "jsonl":
            print_jsonl(record)
        else:
            click.echo(record_line(record))
        sys.stdout.flush()


@command.command("unused", epilog="Example:  policyengine log unused --since 30d log.jsonl")
@_files
@bundle_option
@_since
@_until
@_format
def unused_command(
    files: tuple[str, ...], bundle: str | None, since: str | None, until: str | None, form: str
) -> None:  # fmt: skip
    """Rules of a bundle that never matched, though their policy decided. Exit status 1 where there are some."""
    from policyengine.log.filters import period
    from policyengine.log.read import log_files
    from policyengine.log.unused import unused

    found = unused(load_bundle(bundle), log_files(files), period(since, until))
    if form == "json":
        rules = [asdict(one) for one in found.unused]
        print_json({"unused": rules, "policies_without_records": found.silent, "unreadable": found.unreadable})
    else:
        for one in found.unused:
            whose = " (inherited)" if one.inherited else ""
            often = counted(one.decisions, "decision")
            click.echo(f"{one.place}: {one.policy}/{one.rule}{whose} never matched in {often}")
        if found.silent:
            click.echo(f"not in these logs: {', '.join(found.silent)}")
        click.echo(f"{counted(len(found.unused), 'rule')} never matched")
        say_unreadable(found.unreadable)
    sys.exit(1 if found.unused else 0)


@command.command(
    "sql", epilog="""Example:  policyengine log sql "select kind, count(*) from log group by all" log.jsonl"""
)
@click.argument("query")
@_files
@click.option("--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text", help="Output format.")
def sql_command(query: str, files: tuple[str, ...], form: str) -> None:
    """Run a SQL query over logs; they are the table `log`, with a column for each field of a record.

    Fields with structure (rules, outcome, input, ...) are JSON: outcome->>'tier'. Needs the extra `sql`.
    """
    from policyengine.commands.log_text import table_text
    from policyengine.log import sql
    from policyengine.log.read import log_files
    from policyengine.log.scan import count

    logs = log_files(files)
    names, rows = sql.query(logs, query)
    if all(path.is_file() for path in logs):
        # DuckDB leaves such lines out and does not say how many. What is no plain file can be read only once.
        say_unreadable(count(logs).whole.unreadable)
    if form == "text":
        click.echo(table_text(names, rows))
        return
    found = [{name: _plain(value) for name, value in zip(names, row, strict=True)} for row in rows]
    if form == "json":
        print_json(found)
    else:
        for row in found:
            print_jsonl(row)


@command.command("export", epilog="Example:  policyengine log export --to parquet log.jsonl -o log.parquet")
@_files
@click.option("--to", type=click.Choice(["parquet", "jsonl"]), required=True, help="Format.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to.")
@_since
@_until
def export_command(files: tuple[str, ...], to: str, output: str, since: str | None, until: str | None) -> None:
    """Write the records of logs into one file. Parquet needs the extra `parquet`."""
    from policyengine.log.export import write_jsonl, write_parquet
    from policyengine.log.filters import period
    from policyengine.log.read import Unreadable, log_files, records

    wanted, unreadable = period(since, until), Unreadable()
    chosen = log_files(files)
    keep_inputs("--output", output, chosen)
    found = (r for path in chosen for r in records(path, unreadable) if wanted.holds(r.get("time")))
    count = (write_parquet if to == "parquet" else write_jsonl)(found, Path(output))
    click.echo(f"{counted(count, 'record')} written to {output}")
    say_unreadable(unreadable.count, unreadable.first)
    if unreadable.count:
        sys.exit(1)


def _bundle() -> Bundle | None:
    """The bundle whose names a log is asked for, where it can be read."""
    from policyengine.kinds.bundle import load
    from policyengine.source.errors import PolicyEngineError

    try:
        return load(bundle_folder(None))
    except PolicyEngineError:
        return None


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
