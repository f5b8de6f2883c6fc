"""Re-fetches: files that a session had read or written before a compaction and read again after it.

They are the first sign of what a summary lost, and part of what a task costs. A file is also read twice where nothing
was compacted; that rate stands beside, or the number would say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.history import Entry, entries
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.method import Product, run
from policyengine.compression.stated import stated, vocabulary
from policyengine.kinds.prompt_size import Sizes
from policyengine.sessions.model import RecordedCompaction, Round, Session


@dataclass(frozen=True, slots=True)
class Read:
    """One successful reading of a file. `tokens` is the estimate of its result, the other files' share taken out."""

    path: str
    round: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one way of compacting would have cost after this compaction (tokens), had the work gone on the same way.

    The files that the recording read again are needed again. A file whose reading is still in what was kept need not be
    fetched; one that the summary does not name has to be searched for first, at the session's mean cost of a search.
    `carried` is the size of the summary and of what was kept, which every later round sends.
    """

    way: str
    named: int
    in_kept: int
    fetch_tokens: int
    search_tokens: int
    carried: int
    rounds: int

    @property
    def total(self) -> int:
        """Everything, what is carried counted in each later round as if no cache held it."""
        return self.fetch_tokens + self.search_tokens + self.carried * self.rounds


@dataclass(frozen=True, slots=True)
class Refetch:
    """The re-fetches after one recorded compaction.

    - `known`: distinct files read or changed in the context before it; `reads_after`: readings after it, up to the
      next compaction or the end.
    - `files`: the first reading after it of each known file. `changed` counts those that had been changed before,
      `edited` those that were edited after it: most edit tools demand a fresh reading, whatever a summary says.
    - `named`: those of them that the recorded summary names.
    - `repeat_share`: the share of the readings before the compaction that read a file once more: what happens
      without any compaction. None where nothing was read.
    - `output_tokens`: all tool output after it, of which `tokens` is a part; `rounds`: the rounds after it.
    """

    round: int
    known: int
    reads_after: int
    files: tuple[Read, ...]
    changed: int
    edited: int
    named: int
    repeat_share: float | None
    output_tokens: int
    rounds: int
    estimates: tuple[Estimate, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens spent on re-fetches."""
        return sum(read.tokens for read in self.files)

    @property
    def rate(self) -> float | None:
        """Share of the known files that was read again."""
        return len(self.files) / self.known if self.known else None

    @property
    def share(self) -> float | None:
        """Share of the readings after that were re-fetches."""
        return len(self.files) / self.reads_after if self.reads_after else None


def refetches(session: Session, compressor: Compressor) -> list[Refetch]:
    """One entry for each recorded compaction of a session."""
    if not session.recorded_compactions:
        return []
    whole = compressor.indexer.of(session)
    return [
        _Counting(session, compressor, whole, number).count() for number in range(len(session.recorded_compactions))
    ]


class _Counting:
    def __init__(self, session: Session, compressor: Compressor, whole: ArtefactIndex, number: int) -> None:
        self.session = session
        self.compressor = compressor
        self.whole = whole
        compactions = session.recorded_compactions
        self.compaction: RecordedCompaction = compactions[number]
        self.first = compactions[number - 1].round if number else 1
        self.end = compactions[number + 1].round if number + 1 < len(compactions) else len(session.rounds) + 1

    def count(self) -> Refetch:
        at = self.compaction.round
        before = [item for item in self.session.rounds if self.first <= item.index < at]
        after = [item for item in self.session.rounds if at <= item.index < self.end]
        index = self.compressor.indexer.extended(ArtefactIndex(), before)
        known = {self._file(path): record for path, record in index.files.items()}
        early, late = self._reads(before), self._reads(after)
        again = _first([read for read in late if read.path in known])
        repeats = len(early) - len({read.path for read in early})
        recorded = next((e.text or "" for e in entries(self.session, at + 1) if e.summary), "")
        edits = self._edits(after)
        return Refetch(
            round=at,
            known=len(known),
            reads_after=len(late),
            files=tuple(again),
            changed=sum(1 for read in again if known[read.path].changed),
            edited=sum(1 for read in again if edits.get(read.path, 0) >= read.round),
            named=len(self._named(recorded, known) & {read.path for read in again}),
            repeat_share=repeats / len(early) if early else None,
            output_tokens=self._output(after),
            rounds=len(after),
            estimates=tuple(self._estimates(recorded, known, early, again, len(after))),
        )

    def _estimates(
        self, recorded: str, known: Iterable[str], early: Sequence[Read], again: Sequence[Read], rounds: int
    ) -> Iterator[Estimate]:
        search = self._mean_search()
        for way, text, kept in self._ways(recorded):
            named = self._named(text, known)
            first_kept = kept[0].round if kept else None
            in_kept = {read.path for read in early if first_kept is not None and read.round >= first_kept}
            fetched = [read for read in again if read.path not in in_kept]
            lost = sum(1 for read in fetched if read.path not in named)
            yield Estimate(
                way,
                sum(1 for read in again if read.path in named),
                sum(1 for read in again if read.path in in_kept),
                sum(read.tokens for read in fetched),
                lost * search,
                self.compressor.text_tokens(text) + self.compressor.tokens(kept),
                rounds,
            )

    def _ways(self, recorded: str) -> Iterator[tuple[str, str, Sequence[Entry]]]:
        """Each way of compacting that needs no model: its name, its summary, and what it keeps."""
        yield "recorded", recorded, ()
        if not self.compressor.can_plan:
            return
        at = self.compaction.round
        history, index = entries(self.session, at), self.compressor.indexer.of(self.session, at)
        for way, wish in (
            ("extractive", Wish("extractive", force=True)),
            ("extractive, keeping nothing", Wish("extractive", keep_nothing=True, force=True)),
        ):
            plan = self.compressor.plan(history, index, wish=wish)
            outcome = run(plan.steps()) if plan is not None else None
            if plan is not None and isinstance(outcome, Product):
                yield way, outcome.text, plan.job.cut.kept
        yield "no summary", "", ()

    def _named(self, text: str, known: Iterable[str]) -> frozenset[str]:
        return stated(text, known, vocabulary(self.compressor.loop)).named

    def _mean_search(self) -> int:
        """Mean tokens of what a search of this session gave back; 0 where it made none."""
        sizes = [
            call.result.bytes
            for item in self.session.rounds
            for call in item.calls
            if call.result is not None and self.compressor.loop.classify(call.name, call.arguments)["kind"] == "search"
        ]
        return self.compressor.loop.size_tokens(Sizes(json_bytes=sum(sizes) // len(sizes))) if sizes else 0

    def _edits(self, rounds: Sequence[Round]) -> Mapping[str, int]:
        """The last round in which each file was changed."""
        index = self.compressor.indexer.extended(ArtefactIndex(), rounds)
        return {self._file(path): record.last_change or 0 for path, record in index.files.items()}

    def _file(self, path: str) -> str:
        """The file that a path means, in the whole session's terms."""
        if path in self.whole.files:
            return path
        ends = [known for known in self.whole.files if known.endswith("/" + path)]
        return ends[0] if len(ends) == 1 else path

    def _reads(self, rounds: Sequence[Round]) -> list[Read]:
        artefacts = self.compressor.indexer.artefacts
        found: list[Read] = []
        for item in rounds:
            for call in item.calls:
                result = call.result
                if result is None or result.error or result.cancelled:
                    continue
                touches = artefacts.map(call.name, call.arguments).touches
                paths = list(dict.fromkeys(self._file(touch.path) for touch in touches if touch.action == "read"))
                for path in paths:
                    tokens = self.compressor.loop.size_tokens(Sizes(json_bytes=result.bytes // len(paths)))
                    found.append(Read(path, item.index, tokens))
        return found

    def _output(self, rounds: Sequence[Round]) -> int:
        size = sum(call.result.bytes for item in rounds for call in item.calls if call.result is not None)
        return self.compressor.loop.size_tokens(Sizes(json_bytes=size))


def _first(reads: Iterable[Read]) -> list[Read]:
    found: dict[str, Read] = {}
    for read in reads:
        found.setdefault(read.path, read)
    return list(found.values())
