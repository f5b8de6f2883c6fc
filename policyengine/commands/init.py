"""`policyengine init`: a starter bundle."""

from __future__ import annotations

import re
from pathlib import Path

import click

from policyengine.commands.options import counted
from policyengine.commands.outputs import writing

_PLAIN = re.compile(r"[A-Za-z][\w .@/-]*")
_FIRST = {
    "ladders/floor.yaml": "when a session is compacted",
    "routing.yaml": "which model answers a continuation",
    "tips.yaml": "which tip a person sees",
    "review.yaml": "a table for a question of your own; this one is an example",
}
"""What most people change first."""


@click.command(
    epilog="Examples:  policyengine init policies --owner platform-team   |   policyengine init policies --only Ladder"
)
@click.argument("folder", metavar="[DIR]", default="policies", type=click.Path(path_type=Path))
@click.option("--owner", metavar="TEAM", help="The team that answers for the policies; without it they have none.")
@click.option(
    "--only",
    metavar="KIND",
    multiple=True,
    help="Only policies of this kind (again for more); the built-in bundle for the rest.",
)
@click.option("--name", metavar="NAME", help="What logs call the bundle; without it the name of DIR.")
def command(folder: Path, owner: str | None, only: tuple[str, ...], name: str | None) -> None:
    """Write a commented starter bundle with tests into DIR (without one, ./policies)."""
    from policyengine.check.starter import SCHEMAS, write_starter
    from policyengine.source.text import shown_path

    if owner is not None and not _PLAIN.fullmatch(owner):
        raise click.UsageError(f"{owner!r} is no name of a team; use letters, digits, spaces and . @ / - _")
    with writing(folder):
        written = write_starter(folder, owner, name, only)
    where = shown_path(folder)
    parts = (
        f"{counted(written.policies, 'policy', 'policies')}, and bundle.yaml",
        f"{counted(written.tests, 'file')} of tests beside them",
        f"{counted(written.schemas, 'schema')} for editors, in {SCHEMAS}",
    )
    click.echo(f"wrote the bundle {written.name} to {where}:")
    click.echo("\n".join(f"  {part}" for part in parts))
    if owner is None:
        click.echo("nobody owns the policies yet, and lint says so; --owner TEAM writes one into each")
    click.echo("\nnext:")
    rows = {
        f"policyengine lint {where}": "what is wrong",
        f"policyengine test {where}": "the tests beside the policies",
    }
    rows |= {f"edit {where}/{file}": text for file, text in _FIRST.items() if (folder / file).exists()}
    width = max(map(len, rows))
    for what, text in rows.items():
        click.echo(f"  {what:<{width}}  {text}")
