"""The text of `policyengine compress` and `policyengine probe`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from policyengine.commands.options import counted, thousands
from policyengine.compression.compressor import Compressor
from policyengine.compression.cycles import Cycle
from policyengine.compression.method import Product
from policyengine.compression.probing import Probes, build
from policyengine.compression.scoring import DIMENSIONS, Score, score
from policyengine.compression.stated import vocabulary
from policyengine.compression.trial import Trial, Trials
from policyengine.kinds.made import Made
from policyengine.sessions.model import Session
from policyengine.source.render import printable

_SHOWN = 6
"""Lost answers named on one line; all of them are in the JSON."""


def where(at: int, session: Session) -> str:
    """Where a session is compacted: `at` is the round (1-based) whose send it precedes."""
    last = len(session.rounds)
    return f"after the last of {counted(last, 'round')}" if at > last else f"before round {at} of {last}"


def _echo(text: str = "") -> None:
    """Lines as they stand; what a transcript holds reaches no terminal as it is."""
    click.echo("\n".join(map(printable, text.split("\n"))))


def one(session: Session, trial: Trial, trigger: Made) -> None:
    """One compaction: the summary first, then what it is worth."""
    assert trial.plan is not None
    _echo(
        f"{session.path}  {where(trial.at, session)}: {trial.method}"
        f" (rule {trial.rule or 'default'}), profile {trial.plan.job.layout.profile}"
    )
    found = trigger.decision.outcome
    would = "would" if found["compress"] else "would not"
    _echo(f"by itself the policy {would} compress here (rule {found['reason']})")
    for attempt in trial.attempts:
        _echo(f"an answer was refused: {attempt.problem}: {attempt.detail}")
    cut = trial.plan.job.cut
    if not trial.text:
        _echo("no summary: the history stays as it is")
        return
    taken = len(cut.pinned) + len(cut.standing) + len(cut.span)
    _echo(
        f"cut {counted(taken, 'entry', 'entries')}, {counted(trial.span_tokens, 'token')},"
        f" to {thousands(trial.summary_tokens)} ({trial.ratio:.1%} less);"
        f" kept {counted(len(cut.kept), 'entry', 'entries')}, {counted(trial.kept_tokens, 'token')}"
    )
    _echo("\n" + trial.text)
    assert isinstance(trial.outcome, Product)
    if trial.outcome.dropped:
        _echo(f"dropped: {counted(len(trial.outcome.dropped), 'item')} had no room or were replaced")
    for row in trial.outcome.rejected:
        _echo(f"rejected from {row.section}: it {row.reason}")
    if trial.score is not None:
        scores(trial.score)


def scores(found: Score) -> None:
    """The probes by what they ask, and the six dimensions."""
    rows: dict[str, list[tuple[float, tuple[str, ...], int]]] = {}
    for row in found.probes:
        rows.setdefault(f"{row.probe.kind}: {row.probe.id.replace('_', ' ')}", []).append(
            (row.score, row.missing, len(row.probe.answer))
        )
    width = max((len(name) for name in rows), default=0)
    _echo(f"{'probes':<{width}}  asked  score  stated   lost")
    for name, asked in rows.items():
        mean = sum(value for value, _, _ in asked) / len(asked)
        lost = [answer for _, missing, _ in asked for answer in missing]
        whole = sum(count for _, _, count in asked)
        named = ", ".join(lost[:_SHOWN]) + (f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else "")
        stated = f"{whole - len(lost):>3}/{whole:<3}"
        _echo(f"{name:<{width}}  {len(asked):>5}  {mean:>5.2f}  {stated}  {named}".rstrip())
    if found.strangers:
        _echo(f"paths that occur nowhere in the history: {', '.join(found.strangers)}")
    listed = ", ".join(f"{name.replace('_', ' ')} {_number(found.dimensions[name])}" for name in DIMENSIONS)
    _echo(f"mean {found.mean:.2f} ({found.verdict}): {listed}")


def table(session: Session, trials: Trials, rows: Sequence[Trial]) -> None:
    """Every method in one Markdown table, as docs/compression.md holds it."""
    _echo(
        f"{session.path}, {where(trials.at, session)}: {counted(rows[0].span_tokens, 'token')} cut, nothing kept,"
        f" {counted(len(trials.probes().probes), 'probe')}\n"
    )
    dimensions = [name.replace("_", " ") for name in DIMENSIONS]
    heads = ["summary", "written by", "tokens", "ratio", *dimensions, "mean", "verdict"]
    _echo("| " + " | ".join(heads) + " |")
    _echo("|" + "---|" * 2 + "---:|" * (len(heads) - 3) + "---|")
    for row in rows:
        found = row.score
        cells = [row.method, row.author, thousands(row.summary_tokens), f"{row.ratio:.1%}" if row.ratio else "–"]
        if found is None:
            cells += ["–"] * 7 + [f"refused: {row.attempts[-1].problem}" if row.attempts else "none"]
        else:
            cells += [*(_number(found.dimensions[name]) for name in DIMENSIONS), f"{found.mean:.2f}", found.verdict]
        _echo("| " + " | ".join(cells) + " |")


def cycles(compressor: Compressor, session: Session, rows: Sequence[Cycle]) -> None:
    """Compactions in a row in one Markdown table."""
    _echo(f"{session.path}: {counted(len(rows), 'compaction')} in a row\n")
    heads = ["cycle", "before round", "method", "result", "summary bytes", "dropped", "index whole", "files changed"]
    _echo("| " + " | ".join([*heads, "of these named", "mean"]) + " |")
    _echo("|---:|---:|---|---|---:|---:|---|---:|---:|---:|")
    words = vocabulary(compressor.loop)
    for row in rows:
        product = row.outcome if isinstance(row.outcome, Product) else None
        refused = row.outcome.attempts[-1].problem if row.outcome is not None and not product else "nothing to cut"
        found = score(
            compressor.loop.bundle, build(compressor.loop.bundle, row.whole, row.removed), row.text,
            list(row.whole.files), words,
        )  # fmt: skip
        named = next((r for r in found.probes if r.probe.id == "changed_files"), None)
        cells = [
            str(row.number),
            str(row.at),
            row.plan.method if row.plan is not None else "–",
            "accepted" if product else f"refused: {refused}",
            thousands(len(row.text.encode("utf-8", "replace"))),
            str(len(product.dropped)) if product else "–",
            ("yes" if product.standing.index.same_as(row.whole) else "no") if product else "–",
            str(len(row.whole.changed)),
            f"{named.recall:.0%}" if named is not None else "–",
            f"{found.mean:.2f}",
        ]
        _echo("| " + " | ".join(cells) + " |")


def questions(probes: Probes) -> None:
    """The questions and their known answers."""
    for probe in probes.probes:
        _echo(f"{probe.kind:<12} {probe.question}")
        _echo(f"{'':<12} {', '.join(_few(probe.answer))}")
    if probes.unasked:
        left = ", ".join(f"{count} of {name.replace('_', ' ')}" for name, count in probes.unasked.items())
        _echo(f"not asked, since no fact in them could be looked for: {left}")


def _few(answers: Sequence[str]) -> Iterable[str]:
    yield from answers[:_SHOWN]
    if len(answers) > _SHOWN:
        yield f"and {len(answers) - _SHOWN} more"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
