"""`policyengine test`: the policy tests of a bundle, their coverage, and mutants that no test notices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from policyengine.commands.options import wants_color

if TYPE_CHECKING:
    from policyengine.check.policy_tests import Report, Request


@click.command(
    epilog="Examples:  policyengine test   |   policyengine test policies/routing.test.yaml"
    "   |   policyengine test --coverage --min 100 --mutate",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--bundle",
    metavar="DIR",
    default=None,
    help="Folder of policies; without it the one the tests lie in, ./policies, or the built-in bundle.",
)
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
@click.option("--format", "form", type=click.Choice(["text", "json", "junit"]), default="text", help="Output format.")
def command(
    paths: tuple[str, ...], bundle: str | None, coverage: bool, min_percent: float | None, mutate: bool,
    max_seconds: float | None, watch: bool, form: str,
) -> None:  # fmt: skip
    """Run the policy tests at PATH; without PATH those of the whole bundle.

    Exit status 1 where a case fails, a test document is wrong, nothing was tested, a rule is tested by no case, or
    no test notices a mutant.
    """
    from pathlib import Path

    from policyengine.check.policy_tests import Request
    from policyengine.check.policy_tests.suite import MAX_SECONDS

    request = Request(
        tuple(map(Path, paths)),
        Path(bundle) if bundle is not None else None,
        coverage,
        min_percent,
        mutate,
        max_seconds or MAX_SECONDS,
    )
    if watch:
        _watch(request, form)
        return
    if not _run(request, form):
        sys.exit(1)


def _run(request: Request, form: str) -> bool:
    from policyengine.check.policy_tests import run

    report = run(request, _progress if request.mutants and form == "text" else None)
    click.echo(_rendered(report, form))
    return report.passed


def _rendered(report: Report, form: str) -> str:
    if form == "json":
        from policyengine.check.policy_tests.render_json import render_json

        return render_json(report)
    if form == "junit":
        from policyengine.check.policy_tests.render_junit import render_junit

        return render_junit(report)
    from policyengine.check.policy_tests.render_text import render_text

    return render_text(report, color=wants_color())


def _progress(done: int, total: int) -> None:
    """One line on a terminal that says how far it is."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" if done + 1 >= total else f"\r\x1b[Kmutant {done + 1} of {total}")
        sys.stderr.flush()


def _watch(request: Request, form: str) -> None:
    """Run and run again until the person stops it; a bundle that cannot be read is said, and watched on."""
    from policyengine.check.policy_tests.suite import watched
    from policyengine.check.policy_tests.watching import watch
    from policyengine.source.errors import PolicyEngineError

    def once() -> None:
        try:
            _run(request, form)
        except PolicyEngineError as error:
            click.echo(f"policyengine: {error}", err=True)
        click.echo("watching; stop with Ctrl-C", err=True)

    watch(once, lambda: watched(request))
