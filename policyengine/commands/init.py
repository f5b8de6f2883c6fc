"""`policyengine init`: a starter bundle."""

from __future__ import annotations

import re
from pathlib import Path

import click

from policyengine.commands.options import counted

_PLAIN = re.compile(r"[A-Za-z][\w .@/-]*")


@click.command(epilog="Example:  policyengine init policies --owner platform-team")
@click.argument("folder", metavar="[DIR]", default="policies", type=click.Path(path_type=Path))
@click.option("--owner", metavar="TEAM", default="platform-team", help="The team that answers for the policies.")
def command(folder: Path, owner: str) -> None:
    """Write a commented starter bundle with tests into DIR (without one, ./policies)."""
    from policyengine.check.starter import write_starter
    from policyengine.source.text import shown_path

    if not _PLAIN.fullmatch(owner):
        raise click.UsageError(f"{owner!r} is no name of a team; use letters, digits, spaces and . @ / - _")
    written = write_starter(folder, owner)
    name = shown_path(folder)
    policies, tests = counted(written.policies, "policy", "policies"), counted(written.tests, "file")
    click.echo(f"wrote {policies} and {tests} of tests to {name}")
    click.echo(f"next:  policyengine lint {name}  |  policyengine test {name}")
