"""`policyengine report`: a decision log as one page with charts."""

from __future__ import annotations

from pathlib import Path

import click

from policyengine.commands.options import bundle_option, load_bundle, say_unreadable
from policyengine.commands.outputs import keep_recordings


@click.command(
    epilog="Example:  policyengine report --log log.jsonl -o report.html",
)
@click.option(
    "--log", "logs", multiple=True, required=True, metavar="FILE", help="A decision log, or a folder of them."
)
@click.option("--session", "sessions", multiple=True, help="Show this session; without it the longest ones.")
@click.option("--since", metavar="TIME", help="From this time on: 2026-03-01, or 30d, 12h ago.")
@click.option("--until", metavar="TIME", help="Before this time.")
@bundle_option
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
def command(
    logs: tuple[str, ...], sessions: tuple[str, ...], since: str | None, until: str | None, bundle: str | None,
    output: str,
) -> None:  # fmt: skip
    """Write a report on decision logs: one HTML file that fetches nothing, with a table behind each chart.

    Tokens over the rounds of sessions, fast and primary over time, vetoes, fallback and cache hit rates with their
    gate lines, wasted tokens, the ladder over window sizes. Needs the extra `report`.
    """
    from policyengine.log.filters import period
    from policyengine.log.read import log_files
    from policyengine.log.report.data import gather
    from policyengine.log.report.page import page
    from policyengine.source.errors import InputError

    files = log_files(logs)
    keep_recordings("--output", output, files)
    data = gather(files, load_bundle(bundle), period(since, until), sessions)
    text = page(data)
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror}") from None
    say_unreadable(data.whole.unreadable)
    click.echo(f"report written to {output}")
