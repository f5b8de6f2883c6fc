"""`policyengine lint`: what is wrong or doubtful in policies."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyengine.commands.options import counted, wants_color

if TYPE_CHECKING:
    from policyengine.check.lint.config import Config
    from policyengine.check.lint.engine import Report
    from policyengine.check.lint.targets import Target

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
    from policyengine.check.lint.engine import joined
    from policyengine.check.lint.targets import targets

    reports = []
    for target in targets(paths):
        if target.built_in and fix:
            raise click.UsageError("the built-in bundle is not changed; copy it with `policyengine init` first")
        config = _config(target, config_file)
        if fix or diff:
            _change(target, config, write_it=fix, unsafe=unsafe_fixes, show=diff)
        with _no_collection():
            reports.append(_report(target, config))
    report = joined(reports)
    if not diff or form != "text":
        _print(report, form)
    if report.failed:
        sys.exit(1)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Reading policies makes many small objects that live until the end; looking for dead ones costs a tenth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _config(target: Target, file: Path | None) -> Config:
    from policyengine.check.lint.config import find_config, read_config

    return read_config(file) if file else find_config(target.root if target.root.is_dir() else target.root.parent)


def _report(target: Target, config: Config) -> Report:
    from policyengine.check.lint.engine import Report, lint

    report = lint(target.root, config)
    kept = tuple(finding for finding in report.findings if target.covers(finding))
    return Report(config.findings + kept, {**report.texts, **config.texts})


def _change(target: Target, config: Config, *, write_it: bool, unsafe: bool, show: bool) -> None:
    from policyengine.check.lint.fixes import fixed, write

    changes = fixed(target, config, unsafe=unsafe)
    for change in changes:
        if show:
            click.echo(change.diff(), nl=False)
        if write_it:
            write(change)
    if write_it and changes:
        click.echo(f"fixed {counted(len(changes), 'file')}", err=True)
    if show and not changes:
        click.echo("nothing to fix", err=True)


def _print(report: Report, form: str) -> None:
    from policyengine.check.formats.registry import render
    from policyengine.check.formats.results import Results
    from policyengine.check.lint.registry import RULES

    results = Results(report.findings, report.texts, RULES, _version() if form == "sarif" else "")
    if form == "github":
        from policyengine.commands.github_text import show

        show(results, "policyengine lint")
        return
    click.echo(render(results, form, color=wants_color()).rstrip("\n"))


def _version() -> str:
    from importlib.metadata import version  # 30 ms to import

    return version("policyengine")
