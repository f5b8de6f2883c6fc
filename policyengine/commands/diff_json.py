"""The JSON of `policyengine diff`, documented in docs/diff.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from policyengine.check.diff.impact import Impact
from policyengine.check.diff.model import Change, Diff, PolicyDiff
from policyengine.source.secrets import masked


def as_json(diff: Diff, impact: Impact | None) -> dict[str, Any]:
    """The whole document."""
    return {
        "old": diff.old,
        "new": diff.new,
        "bundle": [change_json(change) for change in diff.bundle],
        "policies": [policy_json(one) for one in diff.policies],
        "unchanged": diff.unchanged,
        "wrong": list(diff.wrong),
        "missing": list(diff.missing),
        "replay": None if impact is None else impact_json(impact),
    }


def change_json(change: Change) -> dict[str, str]:
    """One change of a document."""
    return {"what": change.what, "text": change.text}


def policy_json(one: PolicyDiff) -> dict[str, Any]:
    """One document."""
    return {
        "name": one.name,
        "old_name": one.old_name,
        "kind": one.kind,
        "changes": [change_json(change) for change in one.changes],
        "effect": one.effect.value,
        "why": one.why,
        "assumes": list(one.assumes),
        "example": None if one.witness is None else masked(asdict(one.witness)),
        "windows": None if one.windows is None else {"from": one.windows[0], "to": one.windows[1]},
        "differs": None
        if one.spans is None
        else {
            name: [
                {"from": span.low, "to": span.high, "least": span.least, "most": span.most,
                 "at_from": span.at_low, "at_to": span.at_high}
                for span in spans
            ]
            for name, spans in one.spans.items()
        },
    }  # fmt: skip


def impact_json(impact: Impact) -> dict[str, Any]:
    """What the change does to recorded sessions."""
    return {
        "sessions": impact.sessions,
        "rounds": impact.rounds,
        "decisions": impact.decisions,
        "changed": impact.changed,
        "share": impact.share,
        "groups": [asdict(group) for group in impact.groups],
        "compactions": [{**asdict(one), "moved": one.moved} for one in impact.compactions],
        "routing": {"old": impact.old_routing, "new": impact.new_routing},
    }
