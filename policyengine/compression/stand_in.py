"""Answers for where no model can be asked, in place of a model's: deterministic, and no better than their input.

They go through the same checks as a model's answers. A stand-in shows how a method behaves, never how good a model is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from policyengine.compression.compressor import Plan
from policyengine.compression.extractive import extract
from policyengine.compression.method import Answer, Ask, Job
from policyengine.compression.record import text_of

_WORD = re.compile(r"\w+")


def stand_in(plan: Plan, _: Ask) -> Answer:
    """An answer to what a method asks: to `anchored` the extracted items as JSON, to the others prose."""
    job = plan.job
    if plan.method == "anchored":
        return Answer(json.dumps(_structured(job), ensure_ascii=False))
    if plan.method == "opaque":
        calls = sum(1 for entry in job.cut.span if entry.call is not None)
        return Answer(job.layout.fill("opaque_stub", messages=len(job.cut.span), calls=calls))
    return Answer(_rewritten(job))


def _structured(job: Job) -> Mapping[str, list[dict[str, object]]]:
    """The extracted items in the form a model is asked for, each citing the entry that holds most of its words."""
    found: dict[str, list[dict[str, object]]] = {}
    extracted = extract(job.layout, job.cut.span, job.index, job.cycle, job.cause_words)
    record = [(entry, frozenset(_words(text_of(entry)))) for entry in (*job.cut.pinned, *job.cut.span)]
    for section in job.layout.sections:
        rows: list[dict[str, object]] = []
        for item in extracted.get(section.id, ()):
            for note in item.notes:
                words = _words(note.text)
                allowed = [(len(words & known), e.number) for e, known in record if e.role in section.sources]
                if allowed:
                    row: dict[str, object] = {"text": note.text, "from": [max(allowed)[1]]}
                    if section.identity != "text":
                        row[section.identity] = item.label or note.text[:60]
                    rows.append(row)
        found[section.id] = rows[-job.layout.limits["items"] :]
    return found


def _rewritten(job: Job) -> str:
    """A summary made from the earlier one and the span only, under the same bound for both: the mechanism of loss."""
    layout = job.layout
    fresh = extract(layout, job.cut.span, job.index, job.cycle, job.cause_words)
    earlier = _by_heading(job.standing.prose)
    room = layout.limits["regenerative_bytes"] // (2 * len(layout.sections))
    changed = [r.path for r in job.index.changed if _in_span(job, r.last_change)]
    parts: list[str] = []
    for section in layout.sections:
        new = [f"- {note.text}" for item in fresh.get(section.id, ()) for note in item.notes]
        if section.identity == "path":
            new = [f"- {path} (modified)" for path in changed]
        # A writer who works from the text alone gives the last things the most room.
        lines = list(dict.fromkeys([*reversed(new), *earlier.get(section.title, ())]))
        kept: list[str] = []
        for line in lines:
            if sum(map(len, kept)) + len(line) > room // 2:
                break
            kept.append(line)
        parts.append(f"## {section.title}\n" + "\n".join(kept or [layout.texts["unfilled"]]))
    return "\n\n".join(parts)


def _by_heading(text: str) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    here: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            here = found.setdefault(line[3:], [])
        elif line.startswith("- "):
            here.append(line)
    return found


def _in_span(job: Job, round: int | None) -> bool:
    return round is not None and any(entry.round == round for entry in job.cut.span)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))
