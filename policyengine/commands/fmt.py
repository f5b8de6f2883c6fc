"""`policyengine fmt`: one layout for policies, with their comments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from policyengine.commands.options import counted, wants_color
from policyengine.commands.outputs import writing
from policyengine.source.finding import Finding, Severity


@click.command(epilog="Example:  policyengine fmt policies/   |   policyengine fmt --check policies/")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 where a file would change.")
@click.option("--diff", is_flag=True, help="Show the changes; alone it writes nothing.")
def command(paths: tuple[Path, ...], check: bool, diff: bool) -> None:
    """Bring policies into one layout, keeping comments and values.

    Without a PATH, ./policies. PATH may be -: then stdin is formatted to stdout. Exit status: 0 fine, 1 files would
    change (--check) or cannot be read, 2 fmt could not run.
    """
    if Path("-") in paths:
        if len(paths) > 1:
            raise click.UsageError("- is stdin and stands alone; leave the other paths out")
        _stdin(check=check, diff=diff)
        return
    from policyengine.check.fmt import fmt
    from policyengine.check.lint.fixes import Change, write
    from policyengine.source.render import render_text
    from policyengine.source.text import shown_path
    from policyengine.source.yaml import CODE

    findings: list[Finding] = []
    texts: dict[str, str] = {}
    changed = total = 0
    for file in _files(paths):
        total += 1
        name = shown_path(file)
        text = _text(file, CODE, findings)
        if text is None:
            continue
        done = fmt(text, name)
        if done.findings:
            findings += done.findings
            texts[name] = text
        elif done.text != text:
            changed += 1
            change = Change(file, text, done.text)
            if diff:
                click.echo(change.diff(), nl=False)
            if check:
                click.echo(f"would change {name}", err=diff)
            elif not diff:
                with writing(file):
                    write(change)
                click.echo(f"changed {name}")
    if findings:
        click.echo(render_text(findings, texts, color=wants_color()))
    if not diff and not findings:
        verb = "would change" if check else "changed"
        click.echo(f"{verb} {changed} of {counted(total, 'file')}")
    if findings or (check and changed):
        sys.exit(1)


def _stdin(*, check: bool, diff: bool) -> None:
    """Stdin to stdout. Where it cannot be read as policies nothing is printed: an editor keeps what it has."""
    from policyengine.check.fmt import fmt
    from policyengine.check.lint.fixes import Change
    from policyengine.source.render import render_text
    from policyengine.source.text import UnreadableError, decode

    name = "stdin"
    try:
        text = decode(sys.stdin.buffer.read(), name)
    except UnreadableError as error:
        raise click.UsageError(f"{error.place}: {error}") from None
    done = fmt(text, name)
    if done.findings:
        click.echo(render_text(done.findings, {name: text}, color=wants_color(sys.stderr)), err=True)
        sys.exit(1)
    changed = done.text != text
    if diff and changed:
        click.echo(Change(Path(name), text, done.text).diff(), nl=False)
    if check and changed:
        click.echo(f"would change {name}", err=diff)
    if not (check or diff):
        click.echo(done.text, nl=False)
    if check and changed:
        sys.exit(1)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    from policyengine.check.around import local_bundle
    from policyengine.kinds.bundle import files

    seen: set[Path] = set()
    for path in paths or (local_bundle("format"),):
        for file in files(path):
            if file not in seen:
                seen.add(file)
                yield file


def _text(file: Path, code: str, findings: list[Finding]) -> str | None:
    from policyengine.source.text import UnreadableError, read_text

    try:
        return read_text(file)
    except UnreadableError as error:
        findings.append(Finding(code, Severity.ERROR, str(error), error.place, error.hint))
        return None
