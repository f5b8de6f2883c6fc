"""The four methods. Each takes a job and ends with a product or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from policyengine.compression.answer import Claim, RefusedError, check_whole, read_answer
from policyengine.compression.extractive import extract
from policyengine.compression.grounding import Grounding
from policyengine.compression.history import Entry
from policyengine.compression.merge import Dropped, merge
from policyengine.compression.method import Answer, Ask, Attempt, Job, Product, Refusal, Rejected, Steps
from policyengine.compression.record import shown
from policyengine.compression.render import render, render_any
from policyengine.compression.sections import Layout
from policyengine.compression.summary import Item, Method, Note, Sections, Standing, fit, identity_of, one_line, size


def extractive(job: Job) -> Steps:
    """A summary from the index and the messages alone. Asks no model, so it cannot fail."""
    new = extract(job.layout, job.cut.span, job.index, job.cycle, job.cause_words)
    yield from ()
    return _merged(job, new, "extractive", (), ())


def anchored(job: Job) -> Steps:
    """New items of the span from a model, merged into the standing summary."""
    layout = job.layout
    grounding = Grounding(layout, _record(job), job.index, _earlier(job))
    ask = Ask(layout.texts["system"], (_anchored_prompt(job),))
    attempts: list[Attempt] = []
    while True:
        answer = yield ask
        try:
            new, rejected = _grounded(layout, grounding, read_answer(layout, answer), job.cycle)
            product = _merged(job, new, "anchored", tuple(rejected), tuple(attempts))
            _check_filled(product, rejected)
            return product
        except RefusedError as error:
            attempts.append(error.attempt)
        if len(attempts) > layout.limits["repairs"]:
            return Refusal(tuple(attempts))
        ask = _repair(layout, ask, answer, attempts[-1])


def regenerative(job: Job) -> Steps:
    """The whole summary written anew by a model, from the earlier one and the span."""
    layout = job.layout
    if job.standing.regenerations >= layout.limits["max_regenerations"]:
        return Refusal(
            (Attempt("limit", f"{job.standing.regenerations} summaries in a row were rewritten as a whole"),)
        )
    limit = layout.limits["regenerative_bytes"]
    headings = "\n".join(f"## {section.title}\n{section.ask}" for section in layout.sections)
    prompt = layout.fill(
        "regenerative", bytes=limit, sections=headings, standing=_earlier(job), record=shown(layout, _record(job))
    )

    grounding = Grounding(layout, _record(job), job.index, _earlier(job))

    def check(text: str) -> str:
        parts = _under_headings(layout, text)
        missing = [section.title for section in layout.sections if section.required and not parts.get(section.id)]
        if missing:
            raise RefusedError(Attempt("missing_section", f"these headings are missing or empty: {', '.join(missing)}"))
        for section in layout.sections:
            if "tool" not in section.sources and any(grounding.echoes(line) for line in parts.get(section.id, ())):
                raise RefusedError(
                    Attempt("ungrounded", f"{section.title} repeats tool output as if somebody had said it")
                )
        return text

    return (yield from _whole(job, Ask(layout.texts["regenerative_system"], (prompt,)), "regenerative", limit, check))


def opaque(job: Job) -> Steps:
    """What a model makes for itself, unread."""
    layout = job.layout
    limit = layout.limits["opaque_bytes"]
    prompt = layout.fill("opaque", bytes=limit, standing=_earlier(job), record=shown(layout, _record(job)))
    ask = Ask(layout.texts["regenerative_system"], (prompt,))
    return (yield from _whole(job, ask, "opaque", limit, lambda text: text))


METHODS: dict[str, Callable[[Job], Steps]] = {
    "anchored": anchored,
    "regenerative": regenerative,
    "opaque": opaque,
    "extractive": extractive,
}


def _anchored_prompt(job: Job) -> str:
    layout = job.layout
    lines = []
    for section in layout.sections:
        label = "" if section.identity == "text" else f' (with "{section.identity}")'
        sources = ", ".join(section.sources)
        lines.append(f'"{section.id}"{label}: {section.ask} Taken from entries of: {sources}.')
    return layout.fill(
        "anchored",
        sections="\n".join(lines),
        item_bytes=layout.limits["item_bytes"],
        required=", ".join(section.id for section in layout.sections if section.required),
        standing=_earlier(job),
        record=shown(layout, _record(job)),
    )


def _adopted(job: Job) -> Sections:
    """Items in place of a summary that was no list of items: the lines under the headings of a rewritten one.

    Where they do not say what the person asked for, the task does.
    """
    layout, standing = job.layout, job.standing
    if standing.method not in ("regenerative", "opaque"):
        return {}
    lines = _under_headings(layout, standing.prose) if standing.method == "regenerative" else {}
    found: dict[str, tuple[Item, ...]] = {}
    for section in layout.sections:
        found[section.id] = _lines_as_items(layout, lines.get(section.id, ()), standing.cycle)
        if section.extract == "requests" and not found[section.id]:
            found[section.id] = _lines_as_items(layout, [job.task], standing.cycle)
    return found


def _lines_as_items(layout: Layout, lines: Sequence[str], cycle: int) -> tuple[Item, ...]:
    items: dict[str, Item] = {}
    for line in lines:
        text = fit(one_line(line).lstrip("-*• "), layout.limits["item_bytes"], layout.texts["cut"])
        if text and text != layout.texts["unfilled"]:
            items.setdefault(identity_of(text), Item(identity_of(text), "", (Note(text, cycle, cycle, 0),)))
    return tuple(items.values())


def _under_headings(layout: Layout, text: str) -> dict[str, list[str]]:
    """The lines that hold something, by the section under whose heading they stand."""
    titles = {f"## {section.title}".casefold(): section.id for section in layout.sections}
    found: dict[str, list[str]] = {}
    here: list[str] | None = None
    for line in text.splitlines():
        name = titles.get(line.strip().casefold())
        if name is not None:
            here = found.setdefault(name, [])
        elif here is not None and line.strip():
            here.append(line)
    return found


def _record(job: Job) -> tuple[Entry, ...]:
    """What a model is shown: the span, and the task statement, which stays but may be cited."""
    return (*job.cut.pinned, *job.cut.span)


def _earlier(job: Job) -> str:
    if job.standing.prose:
        return job.standing.prose
    if job.standing.sections:
        return render(job.layout, job.standing)
    return "\n\n".join(entry.text for entry in job.cut.standing if entry.text) or "-"


def _grounded(
    layout: Layout, grounding: Grounding, claims: Sequence[Claim], cycle: int
) -> tuple[Sections, list[Rejected]]:
    """The claims that hold, as items; and those that do not."""
    items: dict[str, dict[str, Item]] = {section.id: {} for section in layout.sections}
    rejected: list[Rejected] = []
    limit, mark = layout.limits["item_bytes"], layout.texts["cut"]
    for claim in claims:
        section = layout.section(claim.section)
        problem = grounding.problem(section, claim)
        if problem is not None:
            rejected.append(Rejected(claim.section, problem, claim.text))
            continue
        text = fit(claim.text, limit, mark)
        label = fit(claim.label, limit // 4, mark)
        if section.identity == "path":
            label = grounding.path_of(claim.label) or claim.label
        identity = {"path": label, "subject": identity_of(label), "text": identity_of(text)}[section.identity]
        known = items[claim.section].get(identity)
        note = Note(text, cycle, cycle, grounding.round_of(claim))
        items[claim.section][identity] = Item(identity, label, (*(known.notes if known else ()), note))
    return {name: tuple(found.values()) for name, found in items.items()}, rejected


def _check_filled(product: Product, rejected: Sequence[Rejected]) -> None:
    """Refuse a summary in which a required section holds nothing."""
    for name in product.unfilled:
        reasons = sorted({row.reason for row in rejected if row.section == name})
        if reasons:
            raise RefusedError(Attempt("ungrounded", f"every item of `{name}` was refused: it {'; it '.join(reasons)}"))
        raise RefusedError(Attempt("missing_section", f"`{name}` holds nothing"))


def _merged(
    job: Job, new: Sections, method: Method, rejected: tuple[Rejected, ...], attempts: tuple[Attempt, ...]
) -> Product:
    sections, dropped = merge(job.layout, job.standing.sections or _adopted(job), new)
    if job.standing.method == "opaque" and job.standing.prose:
        dropped.append(Dropped("opaque", "", job.standing.prose, job.standing.cycle, replaced=True))
    counts = dict(job.standing.dropped)
    for lost in dropped:
        if not lost.replaced:
            counts[lost.section] = counts.get(lost.section, 0) + 1
    standing = Standing(method, job.cycle, job.layout.profile, job.task, sections, "", 0, counts, job.index)
    unfilled = tuple(
        section.id
        for section in job.layout.sections
        if section.required and not sections[section.id] and not (section.identity == "path" and job.index.changed)
    )
    text = render(job.layout, standing)
    return Product(text, standing, tuple(dropped), rejected, attempts, unfilled)


def _whole(job: Job, ask: Ask, method: Method, limit: int, check: Callable[[str], str]) -> Steps:
    """Ask for a summary as one text."""
    layout = job.layout
    attempts: list[Attempt] = []
    first = ask
    while True:
        answer = yield ask
        try:
            text = check(check_whole(layout, answer, limit))
        except RefusedError as error:
            attempts.append(error.attempt)
            if len(attempts) > layout.limits["repairs"]:
                return Refusal(tuple(attempts))
            ask = _repair(layout, first, answer, attempts[-1])
            continue
        regenerations = job.standing.regenerations + 1 if method == "regenerative" else 0
        gone = tuple(
            Dropped(name, item.label, note.text, note.cycle, replaced=True)
            for name, items in job.standing.sections.items()
            for item in items
            for note in item.notes
        )
        standing = replace(
            Standing(method, job.cycle, layout.profile, job.task, {}, text, regenerations), index=job.index
        )
        return Product(render_any(layout, standing), standing, gone, (), tuple(attempts))


def _repair(layout: Layout, ask: Ask, answer: Answer, attempt: Attempt) -> Ask:
    """The question again, with what was wrong. A useless answer is not sent back in full."""
    limit = layout.limits["shown_message_bytes"]
    said = fit(answer.text, limit, layout.texts["cut"]) if size(answer.text.strip()) else layout.texts["unfilled"]
    return Ask(ask.system, (ask.messages[0], said, layout.fill("repair", problem=attempt.detail)))
