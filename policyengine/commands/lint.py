"""`policyengine lint`: what is wrong or doubtful in policies."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyengine.commands.options import counted, refuse_idle, wants_color
from policyengine.commands.outputs import writing

if TYPE_CHECKING:
    from policyengine.check.lint.config import Config
    from policyengine.check.lint.engine import Report
    from policyengine.check.lint.fixes import Fixing
    from policyengine.check.lint.targets import Target

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")
"""As in `check.formats.registry`, which is imported only when something is printed; a test compares them."""


_MOST_UNCHECKED = 5
"""Files that are named where some were not checked as a whole."""


@click.command(epilog="Example:  policyengine lint policies/   |   policyengine lint --format sarif > lint.sarif")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--fix", is_flag=True, help="Make the fixes that change no decision.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also fixes that may change a decision.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; alone it writes nothing.")
@click.option(
    "--stdin-name", type=click.Path(path_type=Path), metavar="FILE",
    help="With PATH -: the file that the text on stdin stands for; without it a file of this folder.",
)  # fmt: skip
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="A policyengine.toml or pyproject.toml.")
def command(
    paths: tuple[Path, ...],
    form: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    stdin_name: Path | None,
    config_file: Path | None,
) -> None:
    """Find what is wrong in policies.

    Without a PATH, ./policies; PATH may be `built-in`. A file is linted within the bundle around it. Exit status: 0 no
    errors, 1 errors (with --diff alone also where something would be changed), 2 lint could not run.

    --diff prints a patch; what it leaves goes to stderr. PATH may be -, which is stdin.
    """
    if Path("-") in paths:
        if len(paths) > 1:
            raise click.UsageError("- is stdin and stands alone; leave the other paths out")
        refuse_idle("changes files; stdin is none", "fix", "unsafe_fixes", "diff")
        _lint_stdin(stdin_name or Path("stdin.yaml"), form, config_file)
        return
    refuse_idle("says what stdin stands for; give - as PATH", "stdin_name")
    if not (fix or diff):
        refuse_idle("says which fixes are made; give --fix or --diff with it", "unsafe_fixes")
    if diff and form != "text":
        raise click.UsageError("--diff prints a patch; leave --format out")
    from policyengine.check.lint.engine import Report, joined
    from policyengine.check.lint.targets import targets
    from policyengine.source.render import render_text

    reports = []
    changed = gone = 0
    for target in targets(paths):
        if target.built_in and fix:
            raise click.UsageError("the built-in bundle is not changed; copy it with `policyengine init` first")
        config = _config(target, config_file)
        done = _fixing(target, config, unsafe_fixes, write_it=fix, show=diff) if fix or diff else None
        with _no_collection():
            report = _report(target, config)
        if done is not None:
            changed, gone = changed + len(done.changes), gone + done.gone
            if not fix:
                report = Report(tuple(done.remaining(report.findings)), report.texts, report.unchecked)
        reports.append(report)
    report = joined(reports)
    if changed or diff:
        _say_changed(changed, gone, written=fix)
    if not diff:
        _print(report, form)
    elif report.findings:
        click.echo(render_text(report.findings, report.texts, color=wants_color(sys.stderr)), err=True)
    if report.unchecked:
        _say_unchecked(report.unchecked)
    if report.failed or (changed and not fix):
        sys.exit(1)


def _say_unchecked(files: Sequence[str]) -> None:
    """Which files lint has not looked at as a whole, so that the next run brings no surprise."""
    more = f" and {len(files) - _MOST_UNCHECKED} more" if len(files) > _MOST_UNCHECKED else ""
    named = ", ".join(files[:_MOST_UNCHECKED]) + more
    click.echo(f"policyengine: rules and expressions were not checked in {named}: mend what is above first", err=True)


def _lint_stdin(name: Path, form: str, config_file: Path | None) -> None:
    from policyengine.check.lint.config import find_config, read_config
    from policyengine.check.lint.stand_in import standing_in

    with standing_in(name, sys.stdin.buffer.read()) as found:
        config = read_config(config_file) if config_file else find_config(found.real)
        report = found.report(_report(found.target, config))
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
    shown = {finding.place.file for finding in kept}
    unchecked = tuple(file for file in report.unchecked if file in shown)
    return Report(config.findings + kept, {**report.texts, **config.texts}, unchecked)


def _fixing(target: Target, config: Config, unsafe: bool, *, write_it: bool, show: bool) -> Fixing:
    """Show and write what fixing changes."""
    from policyengine.check.lint.fixes import fixing, write

    done = fixing(target, config, unsafe=unsafe)
    for change in done.changes:
        if show:
            click.echo(change.diff(), nl=False)
        if write_it:
            with writing(change.file):
                write(change)
    return done


def _say_changed(files: int, findings: int, *, written: bool) -> None:
    """How much was fixed, or would be."""
    if not files:
        click.echo("nothing to fix", err=True)
    else:
        did = "fixed" if written else "would fix"
        click.echo(f"{did} {counted(findings, 'finding')} in {counted(files, 'file')}", err=True)


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
