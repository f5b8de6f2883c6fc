"""`policyengine baseline`: what fast routing would gain, measured from recorded rounds."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from policyengine.commands.options import bundle_option, load_bundle, print_json, say_none_counted, say_unreadable
from policyengine.commands.outputs import keep_recordings

_NUMBERS = (
    "primary_ms_p50", "primary_ms_p95", "fast_ms_p50", "fast_ms_p95", "primary_cached_ms_p50", "fast_uncached_ms_p50",
    "saved_ms", "compact_share", "compaction_ms_p50", "net_gain_ms", "turn_ms_p50", "turn_ms_p95", "cache_hit_rate",
)  # fmt: skip


@click.command(
    epilog="Example:  policyengine baseline --log log.jsonl -o baseline.json "
    "--primary-model claude-opus-5-5 --fast-model claude-haiku-5-5",
)
@click.option(
    "--log", "logs", multiple=True, required=True, metavar="FILE", help="A decision log, or a folder of them."
)
@click.option("--since", metavar="TIME", help="Count from this time on: 2026-03-01, or 30d, 12h ago.")
@click.option("--until", metavar="TIME", help="Count before this time.")
@click.option("--primary-model", metavar="ID", help="The primary model, to look up its family.")
@click.option("--fast-model", metavar="ID", help="The fast model, to look up its family.")
@click.option("--gate", default="activation", help="The gate of the bundle that decides.")
@click.option("-o", "--output", metavar="FILE", help="Keep the numbers here, for `policyengine gate --baseline FILE`.")
@bundle_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    logs: tuple[str, ...], since: str | None, until: str | None, primary_model: str | None, fast_model: str | None,
    gate: str, output: str | None, bundle: str | None, form: str,
) -> None:  # fmt: skip
    """The numbers that decide whether fast routing may be switched on, and what the gate says to them.

    Summary rounds of both models, the primary one with its prompt cache against the fast one without, and the net
    gain. Exit status: 0 pass, 1 fail, 3 not enough data.
    """
    from policyengine.commands.gate_text import measures_text, verdict_text
    from policyengine.log.filters import period
    from policyengine.log.gates import Facts, ask, check_models, gate_policy, model_facts, numbers, write_baseline
    from policyengine.log.read import log_files
    from policyengine.log.scan import count

    files = log_files(logs)
    if output is not None:
        keep_recordings("--output", output, files)
    loaded = load_bundle(bundle)
    policy = gate_policy(loaded, gate)
    check_models(loaded, policy, primary_model, fast_model)
    family, thinking = model_facts(loaded, primary_model, fast_model)
    facts = Facts(same_family=family, thinking_equal=thinking)
    tally = count(files, wanted=period(since, until)).whole
    say_none_counted(tally.records)
    say_unreadable(tally.unreadable)
    verdict = ask(policy, tally, facts)
    found = {name: one for name, one in numbers(tally, facts).items() if name in _NUMBERS}
    if output:
        write_baseline(tally, Path(output))
    if form == "json":
        numbers_found = {name: one.as_json() for name, one in found.items()}
        print_json({**verdict.as_json(), "numbers": numbers_found, "unreadable": tally.unreadable})
    else:
        rest = {name: one for name, one in found.items() if name not in verdict.numbers}
        click.echo(verdict_text(verdict) + "\n\n" + measures_text(rest))
    sys.exit(verdict.status)
