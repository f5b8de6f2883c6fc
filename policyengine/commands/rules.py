"""`policyengine rules`: the lint rules, or the page about them."""

from __future__ import annotations

import click

from policyengine.commands.options import print_json

FORMATS = ("text", "json", "markdown")


@click.command(epilog="Example:  policyengine rules   |   policyengine rules --format markdown > docs/rules.md")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Output format.")
def command(form: str) -> None:
    """List the lint rules. `policyengine explain CODE` shows one."""
    from policyengine.check.lint.pages import as_json, page
    from policyengine.check.lint.registry import RULES

    if form == "json":
        print_json([as_json(rule) for rule in RULES])
    elif form == "markdown":
        click.echo(page(RULES), nl=False)
    else:
        width = max(len(rule.code) for rule in RULES)
        for rule in RULES:
            mark = "fix" if rule.fixable else ""
            click.echo(f"{rule.code:<{width}}  {rule.severity:<7}  {mark:<3}  {rule.title}")
