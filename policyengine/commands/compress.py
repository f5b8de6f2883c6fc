"""`policyengine compress`: what a compaction of a recorded session would leave, and how good that is."""

from __future__ import annotations

import click

from policyengine.commands.model_calls import base_url_option, model_option, provider_option
from policyengine.commands.options import bundle_option, load_bundle, print_json, read_session, refuse_idle


@click.command(
    epilog="Examples:  policyengine compress session.jsonl   |   policyengine compress session.jsonl --compare   |   "
    "policyengine compress session.jsonl --cycles 10 --method extractive",
)
@click.argument("session", metavar="SESSION")
@click.option(
    "--method", type=click.Choice(["anchored", "regenerative", "opaque", "extractive"]),
    help="Wish for a method; without it the CompressionMethod policy chooses.",
)  # fmt: skip
@click.option("--profile", metavar="NAME", help="Sections of this profile; without it the policy chooses.")
@click.option(
    "--at", type=click.IntRange(min=2), metavar="ROUND",
    help="Compact before this round is sent; without it where a compaction was recorded, else at the end.",
)  # fmt: skip
@click.option("--keep-nothing", is_flag=True, help="Cut all of the history, not only what the policy lets go.")
@click.option("--compare", is_flag=True, help="Every method in one table, keeping nothing.")
@click.option(
    "--cycles", type=click.IntRange(min=2, max=100), metavar="N", help="N compactions in a row over the whole session."
)
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Context window for the triggers, tokens.")
@provider_option
@model_option
@base_url_option
@bundle_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    session: str, method: str | None, profile: str | None, at: int | None, keep_nothing: bool, compare: bool,
    cycles: int | None, window: int | None, provider: str | None, model: str | None, base_url: str | None,
    bundle: str | None, form: str,
) -> None:  # fmt: skip
    """Compress SESSION as a dry run: show the summary, what was kept and lost, the ratio and the scores.

    The session is read and not changed. Without --provider nothing is sent anywhere: the summary is then made from the
    tool calls and messages alone, and in --compare and --cycles stand-ins answer in a model's place.
    """
    from policyengine.commands import compress_text
    from policyengine.commands.compress_json import cycle_json, trial_json, trigger_json
    from policyengine.commands.model_calls import asker
    from policyengine.compression.compressor import Compressor, Wish
    from policyengine.compression.cycles import in_a_row
    from policyengine.compression.stand_in import stand_in
    from policyengine.compression.trial import Trials
    from policyengine.kinds.loop import Loop

    if compare:
        idle = ("method", "cycles", "profile", "keep_nothing", "window")
        refuse_idle("has no effect with --compare, which runs every method once and keeps nothing; leave it out", *idle)
    if cycles:
        refuse_idle("has no effect with --cycles, which compacts over the whole session; leave it out", "at", "window")
    loop = Loop(load_bundle(bundle))
    compressor = Compressor(loop)
    ask = asker(loop, provider, model, base_url)
    recorded = read_session(session)
    wish = Wish(method, profile, keep_nothing=keep_nothing)
    if cycles:
        answers = (lambda _, question: ask(question)) if ask is not None else stand_in if method else None
        rows = list(in_a_row(compressor, recorded, cycles, wish, answers))
        if form == "json":
            print_json({"path": recorded.path, "cycles": [cycle_json(compressor, row) for row in rows]})
        else:
            compress_text.cycles(compressor, recorded, rows)
        return
    trials = Trials(compressor, recorded, at)
    if compare:
        found = list(trials.compare(ask))
        if form == "json":
            print_json({"path": recorded.path, "at": trials.at, "trials": [trial_json(row) for row in found]})
        else:
            compress_text.table(recorded, trials, found)
        return
    one = trials.run(wish, ask)
    if form == "json":
        print_json({"path": recorded.path, "trigger": trigger_json(trials.trigger(window)), **trial_json(one)})
    else:
        compress_text.one(recorded, one, trials.trigger(window))
