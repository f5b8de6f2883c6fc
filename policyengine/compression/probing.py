"""Probes: questions about a history whose answers are known from its index, without anyone to judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from policyengine.compression.index import ArtefactIndex
from policyengine.compression.patterns import groups
from policyengine.compression.records import FileRecord
from policyengine.kinds.bundle import Bundle

Kind = Literal["recall", "artefact", "continuation", "decision"]
Claim = Literal["changed", "created", "read", "current"]


@dataclass(frozen=True, slots=True)
class Probe:
    """One question. Its answer is a set of files, each said to be `claim`, or a set of facts that have to be stated.

    `whole` says that the single fact is a whole sentence: case, spaces and punctuation do not count.
    """

    id: str
    kind: Kind
    question: str
    files: tuple[str, ...] = ()
    claim: Claim | None = None
    facts: tuple[str, ...] = ()
    whole: bool = False

    @property
    def answer(self) -> tuple[str, ...]:
        """What a right answer names."""
        return self.files or self.facts


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a history. `unasked` counts, by id, what has no fact by which an answer could be known."""

    probes: tuple[Probe, ...]
    unasked: Mapping[str, int]


def build(bundle: Bundle, index: ArtefactIndex, removed: ArtefactIndex | None = None) -> Probes:
    """Every probe that the index can answer, as the Probes policy asks for them.

    `removed` covers only what a compaction took away, where something stays as it was: what the person said last and
    what was decided in what stays is not asked of the summary. Files are asked of it all.
    """
    return _Build(bundle.serving("Probes").spec, index, removed or index).all()


class _Build:
    def __init__(self, spec: Mapping[str, Any], index: ArtefactIndex, removed: ArtefactIndex) -> None:
        self.spec = spec
        self.index = index
        self.removed = removed
        self.probes: list[Probe] = []
        self.unasked: dict[str, int] = {}

    def all(self) -> Probes:
        self._files("changed_files", self.index.changed, "changed")
        self._files("created_files", self.index.created, "created")
        self._files("read_files", self.index.read_only, "read")
        self._symbols()
        index = self.removed
        self._facts("error", ((f"round {e.last}", (*e.codes, *self._found(e.message))) for e in index.errors.values()))
        requests = sorted(index.requests.values(), key=lambda row: row.round)
        for request in requests[:-1]:
            self._sentence("request", str(request.round), request.text)
        for request in requests[-1:]:
            self._sentence("latest_request", str(request.round), request.text)
        self._files("uncommitted", index.uncommitted, "current")
        latest = sorted(index.changed, key=lambda row: row.last_change or 0)[-1:]
        self._files("latest_work", latest, "current")
        open_errors = sorted(index.unresolved, key=lambda row: row.last)[-1:]
        self._facts("open_error", ((f"round {e.last}", (*e.codes, *self._found(e.message))) for e in open_errors))
        for step in index.plan:
            if not step.done:
                self._sentence("plan", str(step.round), step.text)
        for decision in index.decisions.values():
            self._facts("decision", [(str(decision.round), self._found(decision.text))])
        return Probes(tuple(self._newest()), self.unasked)

    def _newest(self) -> Iterable[Probe]:
        limit = self.spec["max_of_kind"]
        by_id: dict[str, list[Probe]] = {}
        for probe in self.probes:
            by_id.setdefault(probe.id, []).append(probe)
        for found in by_id.values():
            yield from found[-limit:]

    def _add(self, id: str, subject: str, **answer: Any) -> None:
        about = self.spec["kinds"].get(id)
        if about is None:
            return
        question = about["question"].replace("{subject}", subject)
        self.probes.append(Probe(id, about["kind"], question, **answer))

    def _files(self, id: str, records: Sequence[FileRecord], claim: Claim) -> None:
        if records:
            self._add(id, "", files=tuple(record.path for record in records), claim=claim)

    def _symbols(self) -> None:
        for record in sorted(self.index.changed, key=lambda row: row.last_change or 0):
            symbols = tuple(symbol for symbol in record.symbols if " " not in symbol)
            if symbols:
                self._add("symbols", record.path, facts=symbols)

    def _facts(self, id: str, rows: Iterable[tuple[str, Iterable[str]]]) -> None:
        for subject, facts in rows:
            kept = tuple(dict.fromkeys(facts))[: self.spec["facts"]["max"]]
            if kept:
                self._add(id, subject, facts=kept)
            else:
                self.unasked[id] = self.unasked.get(id, 0) + 1

    def _sentence(self, id: str, subject: str, text: str) -> None:
        facts = self._found(text)
        if not facts and len(text) <= self.spec["whole_chars"]:
            self._add(id, subject, facts=(text,), whole=True)
        else:
            self._facts(id, [(subject, facts)])

    def _found(self, text: str) -> tuple[str, ...]:
        return tuple(groups(text, self.spec["facts"]["patterns"]))
