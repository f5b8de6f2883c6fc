"""`policyengine context`: the ladder's thresholds, how each came about, and where a count stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from policyengine.commands.options import bundle_option, counted, load_bundle, print_json, thousands, wants_color

_TIERS = ("warn", "auto", "hard")


@click.command(epilog="Example:  policyengine context --window 128000 --tokens 96000")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Context window, tokens.")
@click.option("--model", metavar="NAME", help="Take the window of this model from the catalogue.")
@click.option("--tokens", type=click.IntRange(min=0), metavar="N", default=0, help="Size of the next prompt, tokens.")
@click.option("--ladder", metavar="NAME", help="A ladder of the bundle; without it the one that serves.")
@bundle_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    window: int | None, model: str | None, tokens: int, ladder: str | None, bundle: str | None, form: str
) -> None:
    """Show the ladder's thresholds for a window, and the tier of a count."""
    from policyengine.kinds.loop import Loop

    loop = Loop(load_bundle(bundle), ladder)
    if window is not None and model is not None:
        raise click.UsageError("give --window N or --model NAME, not both: a model has its window")
    if window is None and model is None:
        raise click.UsageError("give the window with --window N, or the model with --model NAME")
    if model is not None:
        window = _window_of(loop, model)
    decision = loop.ladder.decide({"window": window, "tokens": tokens}, trace=True)
    if decision.errors:
        raise click.ClickException(f"the ladder `{loop.ladder.name}` failed: {decision.errors[0].message}")
    if form == "json":
        print_json(as_json(window, tokens, decision.outcome))
    else:
        click.echo(_text(loop.ladder.name, window, tokens, decision.outcome, decision.derived))


def _window_of(loop: Any, model: str) -> int:
    from policyengine.source.errors import InputError
    from policyengine.source.nearest import did_you_mean

    if not loop.model(model)["known"]:
        names = [name for row in loop.models.spec["models"] for name in (row["id"], *row.get("aliases", ()))]
        raise InputError(f"the catalogue has no model {model!r}; {did_you_mean(model, names) or 'give --window N'}")
    window: int | None = loop.window(model)
    if window is None:
        raise InputError(f"the window of {model} is not known; give it with --window N")
    return window


def as_json(window: int | None, tokens: int, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of this command."""
    return {
        "window": window,
        "effective_window": outcome["effective_window"],
        **{tier: {"at": outcome[tier], "branch": outcome[f"{tier}_branch"]} for tier in _TIERS},
        "tokens": tokens,
        "tier": outcome["tier"],
        "tokens_left": outcome["tokens_left"],
        "feasible": outcome["feasible"],
        "compact_max_output_tokens": outcome["compact_max_output_tokens"],
    }


def _text(ladder: str, window: int | None, tokens: int, outcome: Mapping[str, Any], derived: Mapping[str, Any]) -> str:
    lines = [f"ladder {ladder}, window {thousands(window)}, next prompt {counted(tokens, 'token')}", ""]
    reserve = (window or 0) - (outcome["effective_window"] or 0)
    lines.append(
        f"  effective {thousands(outcome['effective_window']):>10}   window less a reserve of {thousands(reserve)}"
    )
    for tier in _TIERS:
        branch = outcome[f"{tier}_branch"]
        candidates = {
            name.removeprefix(f"{tier}_"): value
            for name, value in derived.items()
            if name.startswith(f"{tier}_") and isinstance(value, float) and name != f"{tier}_base"
        }
        shown = ", ".join(f"{name} {thousands(value)}" for name, value in candidates.items())
        mark = " <" if outcome["tier"] == tier else ""
        row = f"  {tier:<9} {thousands(outcome[tier]):>10}   by {branch} ({shown}){mark}"
        lines.append(click.style(row, bold=True) if mark and wants_color() else row)
    lines.append("")
    if not outcome["feasible"]:
        lines.append("  infeasible: the reserve leaves nothing of this window")
    left = outcome["tokens_left"]
    lines.append(f"  tier {outcome['tier']}" + (f", {counted(left, 'token')} left until compaction" if left else ""))
    return "\n".join(lines)
