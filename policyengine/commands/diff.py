"""`policyengine diff`: what differs between two bundles, and what that does."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import click

from policyengine.commands.max_changed import MaxChanged, max_changed_option
from policyengine.commands.options import print_json, refuse_idle


@click.command(
    epilog="Examples:  policyengine diff main:policies policies   |   policyengine diff --git HEAD~1 policies "
    "--replay session.jsonl --max-changed 5%",
)
@click.argument("old")
@click.argument("new", required=False)
@click.option("--git", "revision", metavar="REV", help="Compare the one path given with itself at this revision.")
@click.option("--replay", "sessions", multiple=True, metavar="SESSION", help="Replay this session; may be given again.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Window in replays, tokens.")
@max_changed_option(help="Exit with 1 where more decisions change: a share of them (5%) or a count (10).")
@click.option(
    "--timeout", type=click.FloatRange(min=0.001), default=10.0, metavar="S", show_default=True,
    help="Longest time for one question to the solver, seconds.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format."
)
def command(
    old: str, new: str | None, revision: str | None, sessions: tuple[str, ...], window: int | None,
    max_changed: MaxChanged | None, timeout: float, form: str,
) -> None:  # fmt: skip
    """Say what changed from OLD to NEW, in words, and what that does to decisions.

    OLD and NEW are folders or single files, or REV:PATH for a git revision. Exit status: 0 done, 1 more decisions of
    the replayed sessions changed than --max-changed allows, 2 it could not run.
    """
    from policyengine.check.diff.compare import compare
    from policyengine.check.diff.impact import impact
    from policyengine.check.diff.sources import at_revision, side
    from policyengine.check.replay import Options
    from policyengine.commands import diff_markdown, diff_text, redecide
    from policyengine.commands.diff_json import as_json
    from policyengine.sessions import read

    if (new is None) == (revision is None):
        raise click.UsageError("give OLD and NEW, or one path with --git REV")
    if not sessions:
        refuse_idle("is about replayed sessions; give --replay SESSION", "max_changed", "window")
    if redecide.are_logs(sessions):
        raise click.UsageError(
            f"{sessions[0]}: is a decision log; `policyengine replay {sessions[0]} --bundle NEW` decides its records "
            f"again, --replay takes sessions"
        )
    with ExitStack() as stack:
        before = at_revision(revision, old, stack) if revision is not None else side(old, stack, old=True)
        after = side(new if new is not None else old, stack)
        found = compare(before, after, int(timeout * 1000))
        replayed = None
        if sessions:
            replayed = impact(before, after, (read(path) for path in sessions), Options(window=window))
    if form == "json":
        print_json(as_json(found, replayed))
    else:
        click.echo((diff_text if form == "text" else diff_markdown).text(found, replayed))
    for why in found.missing:
        click.echo(f"policyengine: {why}", err=True)
    if max_changed is None or replayed is None:
        return
    refusal = max_changed.refusal(replayed.changed, replayed.decisions)
    if refusal is not None:
        click.echo(f"policyengine: {refusal}", err=True)
        sys.exit(1)
