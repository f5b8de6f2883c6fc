"""What changed in a document, in words: fields, constants, rules and word lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policyengine.check.diff.model import Change, Quoted, Words
from policyengine.source.secrets import masked

_KEYS = ("id", "tool", "setting", "name")
"""What tells the rows of a list apart; the first that every row has."""

_ROWS = {
    "rules": "rule",
    "vetoes": "veto",
    "tips": "tip",
    "models": "model",
    "tools": "tool",
    "settings": "setting",
    "properties": "property",
    "commands": "command",
}
_NAMED = {"constants": "constant", "derived": "derived value", "thresholds": "threshold", "words": "word list"}
_PARTS = {"when": "condition", "outcome": "outcome", "compute": "outcome", "description": "description"}
_LONGEST = 120
_MOST_WORDS = 8
_MISSING = object()


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    """Every change between two documents (their plain data). What looks secret is covered."""
    found = [*_metadata(old.get("metadata", {}), new.get("metadata", {}))]
    before, after = old.get("spec", {}), new.get("spec", {})
    for key in dict.fromkeys((*before, *after)):
        one, two = before.get(key, _MISSING), after.get(key, _MISSING)
        if same(one, two):
            continue
        rows = [side for side in (one, two) if side is not _MISSING]
        if all(_is_rows(side) for side in rows):
            found += _rows(_ROWS.get(key, f"row of {key}"), before.get(key, []), after.get(key, []))
        elif key in _NAMED:
            found += _named(_NAMED[key], before.get(key, {}), after.get(key, {}))
        else:
            found += _values((key,), key, one, two)
    return tuple(found)


def _metadata(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        yield from _values((key,), key, old.get(key, _MISSING), new.get(key, _MISSING))


def same(one: Any, two: Any) -> bool:
    """Whether two values are written alike: 1 is not true, and a null is not a missing key."""
    if one is _MISSING or two is _MISSING:
        return one is two
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value) and _key(value) is not None


def _key(rows: Sequence[Mapping[str, Any]]) -> str | None:
    return next((key for key in _KEYS if all(isinstance(row.get(key), str) for row in rows)), None)


def _rows(what: str, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[Change]:
    key = _key([*old, *new])
    if key is None or len({row[key] for row in old}) < len(old) or len({row[key] for row in new}) < len(new):
        yield from _values((f"{what}s",), what, old, new)
        return
    before = {row[key]: row for row in old}
    after = {row[key]: row for row in new}
    order = list(after)
    for name in before:
        if name not in after:
            yield Change("removed", (f"{what} ", Quoted(name), " removed", *_shown_when(before[name])))
    for name in order:
        if name not in before:
            place = order.index(name)
            where: Words = (" after ", Quoted(order[place - 1])) if place else (" as the first",)
            yield Change("added", (f"{what} ", Quoted(name), " added", *where, *_shown_when(after[name])))
    common = [name for name in before if name in after]
    kept = _longest_in_order(common, [name for name in order if name in before])
    for name in common:
        if name not in kept:
            place = order.index(name)
            where = ("behind ", Quoted(order[place - 1])) if place else ("to the front",)
            yield Change("moved", (f"{what} ", Quoted(name), " moved ", *where))
        yield from _row(what, name, before[name], after[name])


def _shown_when(row: Mapping[str, Any]) -> Words:
    return (": ", _short(row["when"])) if "when" in row else ()


def _row(what: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        part = (f"{what} ", Quoted(name), f": {_PARTS.get(key, key)}")
        yield from _values(part, key, old.get(key, _MISSING), new.get(key, _MISSING))


def _named(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        yield from _values((f"{what} ", Quoted(name)), name, old.get(name, _MISSING), new.get(name, _MISSING))


def _values(what: Words, name: str, old: Any, new: Any) -> Iterator[Change]:
    """How a value changed; `name` is the key that it stands under."""
    if same(old, new):
        return
    if old is _MISSING:
        yield Change("added", (*what, " added: ", _short(new, name)))
    elif new is _MISSING:
        yield Change("removed", (*what, " removed; it was ", _short(old, name)))
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _values((*what, f", {key}"), key, old.get(key, _MISSING), new.get(key, _MISSING))
    elif _alike(old) and _alike(new) and len(old) == len(new):
        for index, (one, two) in enumerate(zip(old, new, strict=True), start=1):
            yield from _values((*what, f", row {index}"), name, one, two)
    elif _is_words(old) and _is_words(new):
        yield from _listed(what, name, old, new)
    else:
        yield Change("changed", (*what, " changed from ", _short(old, name), " to ", _short(new, name)))


def _alike(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value)


def _listed(what: Words, name: str, old: list[Any], new: list[Any]) -> Iterator[Change]:
    gone = [item for item in old if not any(same(item, other) for other in new)]
    come = [item for item in new if not any(same(item, other) for other in old)]
    if come:
        yield Change("added", (*what, ": ", *_several(come, name), " added"))
    if gone:
        yield Change("removed", (*what, ": ", *_several(gone, name), " removed"))
    if not come and not gone:
        yield Change("moved", (*what, ": the order changed"))


def _several(items: list[Any], name: str) -> Words:
    shown: list[str | Quoted] = []
    for item in items[:_MOST_WORDS]:
        shown += [", ", Quoted(str(masked(item, name)))]
    more = (f" and {len(items) - _MOST_WORDS} more",) if len(items) > _MOST_WORDS else ()
    return (*shown[1:], *more)


def _short(value: Any, name: str = "") -> Quoted:
    value = masked(value, name)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(str(text).split())
    return Quoted(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _longest_in_order(old: list[str], new: list[str]) -> set[str]:
    """The most names that stand in the same order on both sides; every other one has moved."""
    place = {name: index for index, name in enumerate(new)}
    best: list[list[str]] = [[]]
    for name in old:
        best.append([*_longest(run for run in best if not run or place[run[-1]] < place[name]), name])
    return set(_longest(best))


def _longest(runs: Iterable[list[str]]) -> list[str]:
    return max(runs, key=lambda run: len(run), default=[])
