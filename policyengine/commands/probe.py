"""`policyengine probe`: questions with known answers, and how well a summary answers them."""

from __future__ import annotations

from typing import Any

import click

from policyengine.commands.model_calls import base_url_option, model_option, provider_option
from policyengine.commands.options import bundle_option, counted, load_bundle, print_json, read_session


@click.command(
    epilog="Examples:  policyengine probe session.jsonl   |   "
    "policyengine probe session.jsonl --at 40 --summary summary.md --format json",
)
@click.argument("session", metavar="SESSION")
@click.option(
    "--at", type=click.IntRange(min=2), metavar="ROUND",
    help="Ask about what stood before this round; without it where a compaction was recorded, else at the end.",
)  # fmt: skip
@click.option("--summary", metavar="FILE", help="Score this text (- is stdin); without it the recorded one.")
@provider_option
@model_option
@base_url_option
@bundle_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    session: str, at: int | None, summary: str | None, provider: str | None, model: str | None, base_url: str | None,
    bundle: str | None, form: str,
) -> None:  # fmt: skip
    """Build recall, artefact, continuation and decision probes from SESSION and score a summary by them.

    The answers are known from the tool calls, so nobody has to judge: a summary is scored by what it states. With
    --provider a model gives a second opinion on each probe; without it nothing is sent anywhere.
    """
    from policyengine.commands import compress_text
    from policyengine.commands.compress_json import probe_json, score_json
    from policyengine.commands.model_calls import asker
    from policyengine.compression.compressor import Compressor
    from policyengine.compression.judge import judged
    from policyengine.compression.trial import Trials
    from policyengine.kinds.loop import Loop
    from policyengine.source.errors import InputError

    if session == "-" and summary == "-":
        raise InputError("SESSION and --summary cannot both be -: stdin can be read once")
    loaded = load_bundle(bundle)
    loop = Loop(loaded)
    cap = loaded.serving("Probes").spec["judge"]["max_output_tokens"]
    ask = asker(loop, provider, model, base_url, cap)
    recorded = read_session(session)
    trials = Trials(Compressor(loop), recorded, at)
    probes = trials.probes()
    written = trials.recorded()
    text = _read(summary) if summary is not None else written.text if written is not None else None
    if ask is not None and text is None:
        raise InputError("--provider judges a summary, and this session holds none here; give one with --summary FILE")
    found: dict[str, Any] = {
        "path": recorded.path,
        "at": trials.at,
        "probes": [probe_json(probe) for probe in probes.probes],
        "unasked": dict(probes.unasked),
        "score": None,
        "opinions": None,
    }
    scored = trials.score(text, probes) if text is not None else None
    if scored is not None:
        found["score"] = score_json(scored)
    opinions = None
    if ask is not None and text is not None:
        opinions = [value for _, value in judged(loaded, probes.probes, text, ask)]
        found["opinions"] = opinions
    if form == "json":
        print_json(found)
        return
    source = f"the summary in {summary}" if summary else "the recorded summary" if text is not None else "no summary"
    click.echo(
        f"{recorded.path}  {compress_text.where(trials.at, recorded)}: {counted(len(probes.probes), 'probe')}, {source}"
    )
    compress_text.questions(probes)
    if scored is not None:
        click.echo()
        compress_text.scores(scored)
    if opinions is not None:
        known = [value for value in opinions if value is not None]
        mean = f"{sum(known) / len(known):.2f}" if known else "–"
        click.echo(f"{model} judged {len(known)} of {counted(len(opinions), 'probe')}: mean {mean} of 1")


def _read(name: str) -> str:
    """The text of a summary. Raises InputError."""
    import sys

    from policyengine.source.errors import InputError

    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"{name}: cannot be read: {reason}") from None
