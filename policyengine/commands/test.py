"""`policyengine test`: the policy tests of a bundle, their coverage, and mutants that no test notices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from policyengine.commands.options import refuse_idle, wants_color

if TYPE_CHECKING:
    from policyengine.check.policy_tests import Report, Request


FORMATS = ("text", "json", "junit", "github")


@click.command(
    epilog="Examples:  policyengine test   |   policyengine test policies/routing.yaml"
    "   |   policyengine test --coverage --min 100 --mutate",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--bundle",
    metavar="DIR",
    default=None,
    help="Folder of policies; without it the one that PATH lies in, without PATH ./policies.",
)
@click.option("--whole", is_flag=True, help="Test the whole bundle around each PATH.")
@click.option("--trace", is_flag=True, help="Show the trace of every failing case, not only of the first of a policy.")
@click.option("--coverage", is_flag=True, help="Show for each policy which rules the cases have seen.")
@click.option(
    "--min", "min_percent", type=click.FloatRange(0, 100), metavar="N",
    help="Fail below N percent of the rules. Without it all have to be tested, except where PATH selects some tests.",
)  # fmt: skip
@click.option("--mutate", is_flag=True, help="Change the policies in small ways; fail where no test notices.")
@click.option(
    "--max-seconds", type=click.FloatRange(0, min_open=True), default=None, metavar="N",
    help="Stop trying mutants after N seconds (default 600), and fail.",
)  # fmt: skip
@click.option("--watch", is_flag=True, help="Run again whenever a policy or a test changes.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Output format.")
def command(
    paths: tuple[str, ...], bundle: str | None, whole: bool, trace: bool, coverage: bool, min_percent: float | None,
    mutate: bool, max_seconds: float | None, watch: bool, form: str,
) -> None:  # fmt: skip
    """Run the policy tests at PATH; without PATH those of the whole bundle.

    PATH is a test document, a policy (then every test document that asks it), or a folder. Paths of several bundles
    are tested each in its own. Exit status 1 where a case fails, a test document is wrong, nothing was tested, a rule
    is tested by no case, or no test notices a mutant.
    """
    from pathlib import Path

    from policyengine.check.policy_tests import Request
    from policyengine.check.policy_tests.request import MAX_SECONDS, by_bundle

    if not mutate:
        refuse_idle("bounds the trying of mutants; give --mutate", "max_seconds")
    if form != "text":
        refuse_idle(f"is for text; --format {form} has what it has", "trace")
    request = Request(
        tuple(map(Path, paths)),
        Path(bundle) if bundle is not None else None,
        coverage,
        min_percent,
        mutate,
        max_seconds or MAX_SECONDS,
    )
    requests = by_bundle(request, whole=whole)
    if watch:
        _watch(requests, form, trace)
        return
    if status := _run(requests, form, trace):
        sys.exit(status)


def _run(requests: Sequence[Request], form: str, trace: bool) -> int:
    """The exit status."""
    from policyengine.check.policy_tests import run

    reports = [run(one, _progress if one.mutants and form == "text" else None) for one in requests]
    _show(reports, form, trace)
    if any(report.broken for report in reports):
        return 2
    return 0 if all(report.passed for report in reports) else 1


def _show(reports: Sequence[Report], form: str, trace: bool) -> None:
    from policyengine.check.policy_tests import render_text as text

    if form == "json":
        from policyengine.check.policy_tests.render_json import render_json

        click.echo(render_json(reports))
    elif form == "junit":
        from policyengine.check.policy_tests.render_junit import render_junit

        click.echo(render_junit(reports))
    elif form == "github":
        from policyengine.check.policy_tests.render_github import results
        from policyengine.commands.github_text import show

        show(results(reports), "policyengine test")
        for report in reports:
            click.echo(text.summary(report))
    else:
        click.echo(text.render_text(reports, color=wants_color(), all_traces=trace))


def _progress(done: int, total: int) -> None:
    """One line on a terminal that says how far it is."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" if done + 1 >= total else f"\r\x1b[Kmutant {done + 1} of {total}")
        sys.stderr.flush()


def _watch(requests: Sequence[Request], form: str, trace: bool) -> None:
    """Run and run again until the person stops it; a bundle that cannot be read is said, and watched on."""
    from policyengine.check.policy_tests.request import watched
    from policyengine.check.policy_tests.watching import watch
    from policyengine.source.errors import PolicyEngineError

    def once() -> None:
        try:
            _run(requests, form, trace)
        except PolicyEngineError as error:
            click.echo(f"policyengine: {error}", err=True)
        click.echo("watching; stop with Ctrl-C", err=True)

    watch(once, lambda: sorted({file for request in requests for file in watched(request)}))
