"""`policyengine explain`: one lint rule."""

from __future__ import annotations

import click

from policyengine.commands.options import print_json


@click.command(epilog="Example:  policyengine explain shadowed-rule")
@click.argument("code", metavar="CODE")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(code: str, form: str) -> None:
    """Show one lint rule: why it is there, a bad and a good example."""
    from policyengine.check.lint.pages import as_json, explanation
    from policyengine.check.lint.registry import BY_CODE
    from policyengine.source.nearest import did_you_mean

    rule = BY_CODE.get(code)
    if rule is None:
        hint = did_you_mean(code, BY_CODE) or "`policyengine rules` lists them"
        raise click.UsageError(f"there is no lint rule {code!r}; {hint}")
    if form == "json":
        print_json(as_json(rule))
    else:
        click.echo(explanation(rule), nl=False)
