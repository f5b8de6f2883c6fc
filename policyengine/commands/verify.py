"""`policyengine verify`: what holds for every input, and an example where it does not."""

from __future__ import annotations

import sys

import click

from policyengine.commands.options import load_bundle, print_json, refuse_idle


@click.command(
    epilog="Examples:  policyengine verify   |   policyengine verify policies/ladders/floor.yaml --format json",
)
@click.argument("path", required=False)
@click.option(
    "--bundle", metavar="DIR", help="Folder of policies; without it and PATH ./policies, else the built-in bundle."
)
@click.option("--policy", "names", multiple=True, metavar="NAME", help="Only this policy; may be given again.")
@click.option("--strict", is_flag=True, help="Exit with 1 also where something is not decided.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.001), default=10.0, metavar="S", show_default=True,
    help="Longest time for one question to the solver, seconds.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show also every built-in claim that is proven, one by one.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    path: str | None, bundle: str | None, names: tuple[str, ...], strict: bool, timeout: float, everything: bool,
    form: str,
) -> None:  # fmt: skip
    """Prove the properties that policies claim, and the checks that every policy has to pass, or refute them.

    Claims are about every input that the schema allows. Exit status: 0 all proven, or refuted where the policy
    accepts it; 1 a refutation; 2 it could not run.
    """
    from policyengine.check.proofs.results import Verdict
    from policyengine.check.proofs.verify import verify
    from policyengine.commands import verify_text
    from policyengine.commands.verify_json import as_json

    if form == "json":
        refuse_idle("is for text; --format json has every claim", "everything")
    if path is not None and bundle is not None:
        raise click.UsageError("give PATH or --bundle, not both")
    where = path if path is not None else bundle
    loaded = load_bundle(where)
    chosen = [loaded.policy(name) for name in names] or list(loaded.policies.values())
    report = verify(chosen, int(timeout * 1000))
    if form == "json":
        print_json(as_json(report))
    else:
        click.echo(verify_text.text(report, where, everything))
    for why in report.missing:
        click.echo(f"policyengine: {why}", err=True)
    if report.missing:
        sys.exit(2)
    if report.count(Verdict.REFUTED) or (strict and report.count(Verdict.UNDECIDED)):
        sys.exit(1)
