"""Sentences of a diff that text and Markdown share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policyengine.check.diff.impact import Compaction, Impact
from policyengine.check.diff.model import Effect, PolicyDiff, Span
from policyengine.commands.options import counted, thousands
from policyengine.source.secrets import masked


def heading(one: PolicyDiff) -> str:
    """The name of a document, and its old one."""
    return f"{one.kind} {one.name}" + (f" (was {one.old_name})" if one.old_name else "")


def effect(one: PolicyDiff) -> str:
    """What the change does, in one line; empty where there is nothing to say."""
    if one.effect is Effect.SAME:
        how = one.why or "proven for every input"
        if one.windows:
            how = f"proven for every window from {thousands(one.windows[0])} to {thousands(one.windows[1])}"
        rests = f", where {'; '.join(one.assumes)}" if one.assumes else ""
        return f"no decision changes: {how}{rests}"
    if one.effect is Effect.UNDECIDED:
        return f"whether a decision changes is not decided: {one.why}"
    if one.effect is Effect.INCOMPARABLE:
        return f"not comparable: {one.why}"
    return ""


def span(one: Span) -> str:
    """One stretch of windows, and by how much a threshold differs there."""
    where = thousands(one.low) if one.low == one.high else f"{thousands(one.low)} to {thousands(one.high)}"
    if one.least == one.most:
        return f"{where}: {signed(one.least)}"
    inner = ""
    if one.least < min(one.at_low, one.at_high):
        inner = f", lowest {signed(one.least)}"
    elif one.most > max(one.at_low, one.at_high):
        inner = f", highest {signed(one.most)}"
    return f"{where}: {signed(one.at_low)} to {signed(one.at_high)}{inner}"


def signed(value: float) -> str:
    """A difference in tokens with its sign; fractions of a token only where there is nothing else."""
    shown = f"{value:+,.0f}" if abs(value) >= 1 else f"{value:+.1g}"
    return shown.replace(",", " ").replace("-", "−")


def differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The decided fields that differ: name, old and new value."""
    for name in dict.fromkeys((*old, *new)):
        if (name in old, old.get(name)) != (name in new, new.get(name)):
            yield name, _value(old, name), _value(new, name)


def _value(outcome: Mapping[str, Any], name: str) -> str:
    return json.dumps(masked(outcome[name], name), ensure_ascii=False, default=str) if name in outcome else "nothing"


def compaction(one: Compaction) -> str:
    """One compaction that moved, came or went."""
    if one.old_round is None:
        return f"{one.session}: a new one at round {one.new_round} ({counted(one.new_tokens, 'token')})"
    if one.new_round is None:
        return f"{one.session}: none instead of round {one.old_round} ({counted(one.old_tokens, 'token')})"
    assert one.moved is not None
    later = f"{counted(abs(one.moved), 'round')} {'later' if one.moved > 0 else 'earlier'}"
    return (
        f"{one.session}: {later}, round {one.old_round} ({counted(one.old_tokens, 'token')}) "
        f"to round {one.new_round} ({thousands(one.new_tokens)})"
    )


def routing(impact: Impact) -> list[tuple[str, str, str]]:
    """Figures of routing: name, old, new."""
    old, new = impact.old_routing, impact.new_routing
    rows = [("fast rate", _rate(old), _rate(new))]
    rows += [
        (name.replace("_", " "), str(old[name]), str(new[name])) for name in ("fast_confirmed", "fast_would_fall_back")
    ]
    for veto in dict.fromkeys((*old["vetoes"], *new["vetoes"])):
        before, after = old["vetoes"].get(veto, 0), new["vetoes"].get(veto, 0)
        if before != after:
            rows.append((f"veto {veto}", str(before), str(after)))
    return rows


def _rate(totals: Mapping[str, Any]) -> str:
    count = totals["continuations"]
    return f"{totals['fast'] / count:.1%} ({totals['fast']} of {count})" if count else "no continuations"


def by(old: str, new: str) -> str:
    """The rules on both sides."""
    return f"by {old}" if old == new else f"by {old or 'nothing'}, now by {new or 'nothing'}"
