"""The text of `policyengine diff`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from policyengine.check.diff.impact import Impact
from policyengine.check.diff.model import Diff, PolicyDiff
from policyengine.commands import diff_words as words
from policyengine.commands.options import counted, thousands, wants_color
from policyengine.commands.pasteable import eval_command
from policyengine.source.secrets import masked

_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
_COLORS = {"added": "green", "removed": "red", "changed": "yellow", "moved": "cyan"}
_MOST_GROUPS = 20
_MOST_COMPACTIONS = 20


def text(diff: Diff, impact: Impact | None) -> str:
    """Everything."""
    lines = [f"{diff.old} → {diff.new}", ""]
    for change in diff.bundle:
        lines += [f"  {change.text}"]
    lines += [f"  not comparable: {wrong}" for wrong in diff.wrong]
    if diff.bundle or diff.wrong:
        lines.append("")
    for one in diff.policies:
        lines += [*_policy(one, diff.new), ""]
    lines.append(f"{len(diff.policies)} changed, {diff.unchanged} unchanged")
    if impact is not None:
        lines += ["", *_impact(impact)]
    return "\n".join(lines)


def _policy(one: PolicyDiff, new: str) -> Iterator[str]:
    yield click.style(words.heading(one), bold=True) if wants_color() else words.heading(one)
    for change in one.changes:
        sign = _SIGNS.get(change.what, "~")
        yield f"  {click.style(sign, fg=_COLORS.get(change.what)) if wants_color() else sign} {change.text}"
    if line := words.effect(one):
        yield f"  {line}"
    for name, spans in (one.spans or {}).items():
        yield f"  {name} differs for windows (tokens before rounding, new less old)"
        yield from (f"      {words.span(span)}" for span in spans)
    if one.windows and one.spans:
        low, high = (thousands(end) for end in one.windows)
        yield f"  for every other window from {low} to {high} both agree"
    if one.witness is not None:
        witness = one.witness
        yield f"  differs on  {json.dumps(masked(witness.input), ensure_ascii=False)}"
        for name, before, after in words.differing(witness.old, witness.new):
            yield f"      {name}: {before} → {after}"
        yield f"      {words.by(witness.old_rule, witness.new_rule)}"
        yield f"      {eval_command(one.name, new, masked(witness.input))}"


def _impact(impact: Impact) -> Iterator[str]:
    yield (
        f"replayed {counted(impact.sessions, 'session')}, {counted(impact.rounds, 'round')}: "
        f"{thousands(impact.changed)} of {thousands(impact.decisions)} decisions change ({impact.share:.1%})"
    )
    for group in impact.groups[:_MOST_GROUPS]:
        rules = words.by(group.old_rule, group.new_rule)
        yield f"  {group.count:>6}  {group.what}: {group.old} → {group.new}, {rules}; first: {group.first}"
    if len(impact.groups) > _MOST_GROUPS:
        yield f"          and {counted(len(impact.groups) - _MOST_GROUPS, 'more kind')} of change"
    if impact.compactions:
        yield "  compactions:"
        yield from (f"          {words.compaction(one)}" for one in impact.compactions[:_MOST_COMPACTIONS])
        if len(impact.compactions) > _MOST_COMPACTIONS:
            yield f"          and {len(impact.compactions) - _MOST_COMPACTIONS} more"
    for name, old, new in words.routing(impact):
        yield f"  {name}: {old}" + ("" if old == new else f" → {new}")
