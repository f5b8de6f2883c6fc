"""What `policyengine eval --why-not` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from policyengine.commands.options import counted

if TYPE_CHECKING:
    from policyengine.check.why_not import Answer

_LONGEST = 120
_MOST = 6


def text(answer: Answer, wanted: str) -> str:
    """The answer for a person."""
    if answer.already:
        return f"{wanted} is what is decided"
    if answer.impossible:
        return f"no input gives {wanted}: proven"
    if not answer.found:
        return f"nothing that gives {wanted} was found: {answer.why}"
    count = len(answer.found[0].changes)
    lines = [f"nearest inputs that give {wanted}: {counted(count, 'field')} changed"]
    for one in answer.found[:_MOST]:
        width = max(len(path) for path, _, _ in one.changes)
        lines += [f"  {path:<{width}}  {_short(old)} → {_short(new)}" for path, old, new in one.changes]
        lines.append(f"      decided by {one.rule}")
    if len(answer.found) > _MOST:
        lines.append(f"  and {len(answer.found) - _MOST} more; --format json lists them")
    return "\n".join(lines)


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer as data."""
    return {
        "already": answer.already,
        "impossible": answer.impossible,
        "why": answer.why,
        "nearest": [
            {
                "changes": [_change(*change) for change in one.changes],
                "rule": one.rule,
                "input": dict(one.input),
            }
            for one in answer.found
        ],
    }


def _change(path: str, old: Any, new: Any) -> dict[str, Any]:
    """One changed field as data; a value that is not there has no key."""
    from policyengine.check.why_not import MISSING

    return {"path": path} | {name: value for name, value in (("old", old), ("new", new)) if value is not MISSING}


def _short(value: Any) -> str:
    from policyengine.check.why_not import MISSING

    if value is MISSING:
        return "missing"
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
