"""The Markdown of `policyengine diff`: a pull-request comment."""

from __future__ import annotations

import json
from collections.abc import Iterator

from policyengine.check.diff.impact import Impact
from policyengine.check.diff.model import Change, Diff, PolicyDiff
from policyengine.check.formats.markdown import block, cell_code, code, part, plain
from policyengine.commands import diff_words as words
from policyengine.commands.options import counted, thousands
from policyengine.source.secrets import masked

LIMIT = 65_000
"""Characters of a comment that every forge takes."""

_MOST_CHANGES = 60
_MOST_ROWS = 40
_LEFT_OUT = ("more changed document is left out", "more changed documents are left out")


def text(diff: Diff, impact: Impact | None) -> str:
    """Everything that fits; what does not is counted."""
    head = [f"## Policy diff: {code(diff.old)} → {code(diff.new)}"]
    if diff.bundle:
        head += ["", *(f"- {_said(change)}" for change in diff.bundle)]
    if diff.wrong:
        head += ["", *(f"- not comparable: {plain(wrong)}" for wrong in diff.wrong)]
    if impact is not None:
        head += _impact(impact)
    sections = ["\n".join(_policy(one)) for one in diff.policies]
    end = f"{len(diff.policies)} changed, {diff.unchanged} unchanged."
    kept = ["\n".join(head)]
    room = LIMIT - len(kept[0]) - 200
    for index, section in enumerate(sections):
        if len(section) > room:
            kept.append(f"*{counted(len(sections) - index, *_LEFT_OUT)}; run the command to see them.*")
            break
        kept.append(section)
        room -= len(section) + 2
    return "\n\n".join([*kept, end])[: LIMIT - 1]


def _policy(one: PolicyDiff) -> Iterator[str]:
    yield f"### {plain(words.heading(one))}"
    yield ""
    yield from (f"- {_said(change)}" for change in one.changes[:_MOST_CHANGES])
    if len(one.changes) > _MOST_CHANGES:
        yield f"- and {counted(len(one.changes) - _MOST_CHANGES, 'more change')}"
    if line := words.effect(one):
        yield ""
        yield f"**{plain(line[0].upper() + line[1:])}.**"
    if one.spans:
        yield from ("", "| threshold | windows: tokens before rounding, new less old |", "|---|---|")
        for name, spans in one.spans.items():
            yield f"| {plain(name)} | {'<br>'.join(words.span(span) for span in spans)} |"
    if one.witness is not None:
        witness = one.witness
        yield from ("", "Differs on:", "", block(json.dumps(masked(witness.input), ensure_ascii=False), "json"), "")
        yield from ("| field | old | new |", "|---|---|---|")
        for name, before, after in words.differing(witness.old, witness.new):
            yield f"| {plain(name)} | {cell_code(before)} | {cell_code(after)} |"
        yield f"| rule | {cell_code(witness.old_rule)} | {cell_code(witness.new_rule)} |"


def _said(change: Change) -> str:
    return "".join(part(one) if isinstance(one, str) else code(one.text) for one in change.words)


def _impact(impact: Impact) -> Iterator[str]:
    yield ""
    sessions = counted(impact.sessions, "recorded session")
    yield (
        f"**{impact.share:.1%} of the decisions change**: {thousands(impact.changed)} of {thousands(impact.decisions)} "
        f"in {counted(impact.rounds, 'round')} of {sessions}."
    )
    if impact.groups:
        yield from ("", "| count | what | old | new | by | first |", "|---:|---|---|---|---|---|")
        for group in impact.groups[:_MOST_ROWS]:
            rules = words.by(group.old_rule, group.new_rule).removeprefix("by ")
            cells = (group.what, group.old, group.new, rules, group.first)
            yield f"| {group.count} | {' | '.join(map(plain, cells))} |"
        if len(impact.groups) > _MOST_ROWS:
            yield f"| | and {counted(len(impact.groups) - _MOST_ROWS, 'more kind')} | | | | |"
    if impact.compactions:
        yield from ("", "Compactions:", "")
        yield from (f"- {plain(words.compaction(one))}" for one in impact.compactions[:_MOST_ROWS])
        if len(impact.compactions) > _MOST_ROWS:
            yield f"- and {len(impact.compactions) - _MOST_ROWS} more"
    yield from ("", "| routing | old | new |", "|---|---|---|")
    yield from (f"| {plain(name)} | {plain(old)} | {plain(new)} |" for name, old, new in words.routing(impact))
