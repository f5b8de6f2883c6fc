"""`policyengine gate`: a gate, checkpoint, rollout stage or the kill switch, asked about a decision log."""

from __future__ import annotations

import sys

import click

from policyengine.commands.options import (
    bundle_option,
    load_bundle,
    print_json,
    refuse_idle,
    say_none_counted,
    say_unreadable,
)
from policyengine.commands.outputs import keep_inputs


@click.command(
    epilog="Examples:  policyengine gate cache-hit-rate --log log.jsonl   |   "
    "policyengine gate rollout --state state.db --log log.jsonl   |   "
    "policyengine gate rollout --state redis://localhost:6379/0 --log logs",
)
@click.argument("name")
@click.option(
    "--log", "logs", multiple=True, required=True, metavar="FILE", help="A decision log, or a folder of them."
)
@click.option("--since", metavar="TIME", help="Count from this time on: 2026-03-01, or 30d, 12h ago.")
@click.option("--until", metavar="TIME", help="Count before this time.")
@click.option(
    "--stage", type=click.Choice(["dogfood", "opt_in", "default_on", "rollback"]),
    help="The rollout stage now; without it what --state holds, or dogfood.",
)  # fmt: skip
@click.option("--stage-days", type=click.IntRange(min=0), metavar="N", help="Days since that stage began.")
@click.option(
    "--state", metavar="FILE|URL",
    help="Take the stage from this state store (an SQLite file, or redis://HOST:PORT/DB), and put the next one there.",
)  # fmt: skip
@click.option("--scope", default="default", show_default=True, help="The adapters' scope in that store.")
@click.option("--baseline", metavar="FILE", help="What `policyengine baseline -o FILE` wrote, to compare with.")
@click.option("--primary-model", metavar="ID", help="The primary model, to look up its family.")
@click.option("--fast-model", metavar="ID", help="The fast model, to look up its family.")
@bundle_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    name: str, logs: tuple[str, ...], since: str | None, until: str | None, stage: str | None, stage_days: int | None,
    state: str | None, scope: str, baseline: str | None, primary_model: str | None, fast_model: str | None,
    bundle: str | None, form: str,
) -> None:  # fmt: skip
    """Ask the gate NAME: pass, fail or not enough data, the numbers it looked at, their sample sizes and intervals.

    With --state, every adapter that shares the store and the scope obeys the stage from its next turn on. After a
    rollback only a person starts again: --stage dogfood.

    Exit status: 0 pass, 1 fail, 3 not enough data.
    """
    from policyengine.commands.gate_state import StoredStage
    from policyengine.commands.gate_text import verdict_text
    from policyengine.log.filters import period
    from policyengine.log.gates import Facts, ask, check_models, gate_policy, model_facts, read_baseline, reads
    from policyengine.log.read import log_files
    from policyengine.log.scan import count
    from policyengine.runtime.state.opening import store_timeout_s

    loaded = load_bundle(bundle)
    policy = gate_policy(loaded, name)
    before = read_baseline(baseline) if baseline is not None else None
    files = log_files(logs)
    if policy.kind.name != "Stage":
        why = f"is for a gate that moves a rollout stage; `{name}` is a {policy.kind.name}"
        refuse_idle(why, "stage", "stage_days")
    if state is None:
        refuse_idle("is a part of the state store; give --state", "scope")
    else:
        keep_inputs("--state", state, files)
    if not reads(policy, "turn_saved_ms"):
        refuse_idle(f"has no effect: `{name}` compares nothing with a baseline", "baseline")
    check_models(loaded, policy, primary_model, fast_model)
    kept = StoredStage(state, scope, policy, store_timeout_s(loaded)) if state is not None else None
    stage, stage_days = kept.now(stage, stage_days) if kept is not None else (stage, stage_days)
    facts = Facts(
        stage or "dogfood",
        stage_days or 0,
        before,
        *model_facts(loaded, primary_model, fast_model),
    )
    tally = count(files, wanted=period(since, until)).whole
    say_none_counted(tally.records)
    say_unreadable(tally.unreadable)
    verdict = ask(policy, tally, facts)
    if kept is not None:
        kept.move(verdict)
    if form == "json":
        print_json({**verdict.as_json(), "unreadable": tally.unreadable})
    else:
        click.echo(verdict_text(verdict))
    sys.exit(verdict.status)
