"""Items taken from the index and the messages alone, without any model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from policyengine.cel.functions import mentions
from policyengine.compression.building import sentences
from policyengine.compression.history import Entry
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.sections import Layout
from policyengine.compression.summary import Item, Note, Sections, fit, identity_of, one_line

Found = tuple[str, str, int]
"""Label, text, round."""


def extract(
    layout: Layout, span: Sequence[Entry], index: ArtefactIndex, cycle: int, cause_words: Sequence[str] = ()
) -> Sections:
    """New items of a span, by what each section is extracted from. `index` includes the span."""
    if not span:
        return {}
    source = _Source(layout, span, index, tuple(cause_words))
    return {section.id: _items(layout, source.of(section.extract), cycle) for section in layout.sections}


def _items(layout: Layout, found: Iterable[Found], cycle: int) -> tuple[Item, ...]:
    limit, mark = layout.limits["item_bytes"], layout.texts["cut"]
    items: dict[str, Item] = {}
    for label, text, at in found:
        text = fit(one_line(text), limit, mark)
        if not text:
            continue
        identity = identity_of(label or text)
        known = items.get(identity)
        notes = (*(known.notes if known else ()), Note(text, cycle, cycle, at))
        items[identity] = Item(identity, fit(one_line(label), limit // 4, mark), notes)
    return tuple(items.values())


class _Source:
    def __init__(self, layout: Layout, span: Sequence[Entry], index: ArtefactIndex, causes: tuple[str, ...]) -> None:
        self.layout = layout
        self.span = span
        self.index = index
        self.causes = causes
        self.first = min(entry.round for entry in span)
        self.last = max(entry.round for entry in span)
        self._by: Mapping[str, Callable[[], Iterable[Found]]] = {
            "requests": self._requests,
            "decisions": self._decisions,
            "errors": self._errors,
            "causes": self._causes,
            "state": self._state,
            "next": self._next,
        }

    def of(self, what: str) -> Iterable[Found]:
        """What there is of this; the files are rendered from the index itself."""
        return self._by[what]() if what in self._by else ()

    def _in_span(self, round: int) -> bool:
        return self.first <= round <= self.last

    def _requests(self) -> Iterable[Found]:
        for request in self.index.requests.values():
            if self._in_span(request.round):
                yield "", request.text, request.round

    def _decisions(self) -> Iterable[Found]:
        for decision in self.index.decisions.values():
            if self._in_span(decision.round):
                yield "", decision.text, decision.round

    def _errors(self) -> Iterable[Found]:
        for error in self.index.errors.values():
            if self._in_span(error.last):
                codes = f" ({', '.join(error.codes)})" if error.codes else ""
                yield "", f"{error.tool}: {error.message}{codes}", error.last

    def _causes(self) -> Iterable[Found]:
        for decision in self.index.decisions.values():
            if self._in_span(decision.round) and mentions(decision.text, self.causes):
                yield "", decision.text, decision.round

    def _state(self) -> Iterable[Found]:
        fill = self.layout.fill
        if files := sorted(self.index.uncommitted, key=lambda row: -(row.last_change or 0)):
            named = ", ".join(record.path.rpartition("/")[2] for record in files)
            yield "", fill("uncommitted", files=named), self.last
        for error in sorted(self.index.unresolved, key=lambda row: -row.last):
            if self._in_span(error.last):
                yield "", fill("open_error", error=error.message), error.last
        commands = [row for row in self.index.commands.values() if self._in_span(row.last)]
        if commands:
            row = max(commands, key=lambda row: row.last)
            result = self.layout.texts["failed" if row.failed else "succeeded"]
            yield "", fill("last_command", command=row.text, result=result), row.last
        if said := self._last_said():
            yield "", fill("last_said", text=said), self.last

    def _next(self) -> Iterable[Found]:
        for step in self.index.plan:
            if not step.done:
                yield "", step.text, step.round
        requests = [row for row in self.index.requests.values() if row.round <= self.last]
        if requests:
            yield "", max(requests, key=lambda row: row.round).text, self.last
        if said := self._last_said():
            yield "", list(sentences(said))[-1], self.last

    def _last_said(self) -> str:
        texts = (e.text for e in reversed(self.span) if e.role == "assistant" and e.kind == "text" and e.text)
        return next((text.strip() for text in texts if text.strip()), "")
