"""`policyengine lint`: what is wrong or doubtful in policies."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from policyengine.commands.options import wants_color

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")
"""As in `check.formats.registry`, which is imported only when something is printed; a test compares them."""


@click.command(epilog="Example:  policyengine lint policies/   |   policyengine lint --format sarif > lint.sarif")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--fix", is_flag=True, help="Make the fixes that change no decision.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may change a decision.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; alone it writes nothing.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A policyengine.toml or pyproject.toml.")
def command(
    paths: tuple[Path, ...],
    form: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    config_file: Path | None,
) -> None:
    """Find what is wrong in policies.

    Without a PATH, ./policies where there is such a folder, else the built-in bundle. A file is linted within the
    bundle around it. Exit status: 0 no errors, 1 errors, 2 lint could not run.
    """
    from policyengine.check.lint.config import find_config, read_config
    from policyengine.check.lint.engine import Report, joined, lint
    from policyengine.check.lint.targets import targets

    found = targets(paths)
    reports: list[Report] = []
    for target in found:
        folder = target.root if target.root.is_dir() else target.root.parent
        config = read_config(config_file) if config_file else find_config(folder)
        if fix or diff:
            if target.built_in and fix:
                raise click.UsageError("the built-in bundle is not changed; copy it with `policyengine init` first")
            _change(target, config, write_it=fix, unsafe=unsafe_fixes, show=diff)
        report = lint(target.root, config)
        kept = tuple(finding for finding in report.findings if target.covers(finding))
        reports.append(Report(config.findings + kept, {**report.texts, **config.texts}))
    report = joined(reports)
    if not diff or form != "text":
        _print(report.findings, report.texts, form)
    if report.failed:
        sys.exit(1)


def _change(target: object, config: object, *, write_it: bool, unsafe: bool, show: bool) -> None:
    from policyengine.check.lint.config import Config
    from policyengine.check.lint.fixes import fixed, write
    from policyengine.check.lint.targets import Target

    assert isinstance(target, Target)
    assert isinstance(config, Config)
    changes = fixed(target, config, unsafe=unsafe)
    for change in changes:
        if show:
            click.echo(change.diff(), nl=False)
        if write_it:
            write(change)
    if write_it and changes:
        click.echo(f"fixed {len(changes)} file{'s' if len(changes) != 1 else ''}", err=True)
    if show and not changes:
        click.echo("nothing to fix", err=True)


def _print(findings: Sequence[object], texts: object, form: str) -> None:
    from importlib.metadata import version

    from policyengine.check.formats import github
    from policyengine.check.formats.registry import render
    from policyengine.check.formats.results import Results
    from policyengine.check.lint.registry import RULES

    results = Results(tuple(findings), texts, RULES, version("policyengine"))  # type: ignore[arg-type]
    click.echo(render(results, form, color=wants_color()).rstrip("\n"))
    if form == "github":
        where = os.environ.get("GITHUB_STEP_SUMMARY")
        if where:
            with Path(where).open("a", encoding="utf-8") as stream:
                stream.write(github.summary(results))
        elif more := github.rest(results):
            click.echo(more)
