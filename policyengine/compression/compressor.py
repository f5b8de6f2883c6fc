"""One compaction from policies to product: layout, cut, method, run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from policyengine.compression.building import Indexer, word_list
from policyengine.compression.cut import Cut, Keep, cut
from policyengine.compression.history import Entry, entries
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.method import Job, Steps
from policyengine.compression.methods import METHODS
from policyengine.compression.sections import Layout, layout
from policyengine.compression.summary import Standing
from policyengine.kinds.loop import Loop
from policyengine.kinds.made import Made
from policyengine.kinds.policy import Policy
from policyengine.kinds.prompt_size import Sizes
from policyengine.sessions.model import Session

_NOTHING = Keep(0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks of a compaction; None leaves it to the policies.

    `keep_nothing` cuts all there is, as products do that keep only their summary. `force` runs `method` whatever the
    policy says: for comparisons.
    """

    method: str | None = None
    profile: str | None = None
    readable: bool = False
    phase_end: bool = False
    keep_nothing: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A compaction that can run: `steps()` starts its method. `made` are the decisions that led to it."""

    method: str
    job: Job
    made: tuple[Made, ...]

    def steps(self) -> Steps:
        """The method as a generator; see `method.run`."""
        return METHODS[self.method](self.job)


class Compressor:
    """Plans compactions by the policies of one bundle."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.indexer = Indexer(loop)
        self.cause_words = tuple(word for word in word_list(loop, "debugging")) + tuple(word_list(loop, "decision"))

    @property
    def can_plan(self) -> bool:
        """Whether the bundle has the policies that a compaction is planned by; the index needs none of them."""
        return bool(self.loop.bundle.of_kind("CompressionMethod") and self.loop.bundle.of_kind("SummarySections"))

    @cached_property
    def policy(self) -> Policy:
        """The CompressionMethod policy. Raises InputError where the bundle has none."""
        return self.loop.bundle.serving("CompressionMethod")

    def plan(
        self,
        history: Sequence[Entry],
        index: ArtefactIndex,
        standing: Standing | None = None,
        wish: Wish | None = None,
        *,
        model_available: bool = False,
    ) -> Plan | None:
        """How this history would be compacted; None where nothing can be cut.

        `index` covers everything up to the send, `standing` is what the last compaction left.
        """
        standing = standing or Standing()
        wish = wish or Wish()
        about = self.layout(index, wish.profile or standing.profile or None)
        taken = cut(history, _NOTHING if wish.keep_nothing else about.keep)
        if taken is None:
            return None
        return self.plan_cut(taken, index, standing, wish, model_available=model_available)

    def plan_cut(
        self, taken: Cut, index: ArtefactIndex, standing: Standing, wish: Wish, *, model_available: bool
    ) -> Plan:
        """The same for a history that is taken apart already."""
        about = self.layout(index, wish.profile or standing.profile or None)
        history = (*taken.pinned, *taken.standing, *taken.span, *taken.kept)
        given = {
            "messages": _messages(history),
            "profile": about.profile,
            "files_changed": len(index.changed),
            "unresolved_errors": len(index.unresolved),
            "refetch_tokens": self.refetch_tokens(history, index),
            "regenerations": standing.regenerations,
            "readable": wish.readable,
            "phase_end": wish.phase_end,
            "model_available": model_available,
            "requested": wish.method,
        }
        decision = self.policy.decide(given)
        method: str = wish.method if wish.force and wish.method else decision.outcome["method"]
        # The index beside the summary covers what was cut; what is kept is indexed again when it is cut itself.
        job = Job(about, standing, taken, index, self.cause_words)
        return Plan(method, job, (Made(self.policy, given, decision),))

    def layout(self, index: ArtefactIndex, profile: str | None = None) -> Layout:
        """The sections for a session."""
        prompt = "\n".join(request.text for request in index.requests.values())
        return layout(self.loop.bundle, prompt=prompt, unresolved_errors=len(index.unresolved), requested=profile)

    def plan_session(
        self,
        session: Session,
        at: int | None = None,
        standing: Standing | None = None,
        wish: Wish | None = None,
        *,
        model_available: bool = False,
    ) -> Plan | None:
        """The same for the send of round `at` of a recorded session; without it, for what would be sent next."""
        return self.plan(
            entries(session, at), self.indexer.of(session, at), standing, wish, model_available=model_available
        )

    def removed(self, session: Session, plan: Plan, at: int | None = None) -> ArtefactIndex:
        """The index over the rounds that a plan for the send of round `at` cuts away."""
        kept = plan.job.cut.kept
        return self.indexer.of(session, kept[0].round if kept else at)

    def tokens(self, parts: Iterable[Entry]) -> int:
        """Estimated tokens of entries. Thinking is not sent again and does not count."""
        text = data = images = 0
        for entry in parts:
            if entry.kind == "text":
                text += entry.bytes
            elif entry.kind in ("image", "document"):
                images += 1
            elif entry.kind != "thinking":
                data += entry.bytes
        return self.loop.size_tokens(Sizes(text, data, images))

    def text_tokens(self, text: str) -> int:
        """Estimated tokens of a text."""
        return self.loop.size_tokens(Sizes(len(text.encode("utf-8", "replace"))))

    def refetch_tokens(self, history: Sequence[Entry], index: ArtefactIndex) -> int:
        """What it would cost to read again, once each, every file whose reading this history holds (tokens)."""
        results = {entry.call_id: entry for entry in history if entry.role == "tool" and entry.call_id}
        latest: dict[str, Entry] = {}
        for entry in history:
            if entry.call is None or entry.call_id not in results:
                continue
            for touch in self.indexer.artefacts.map(entry.call.name, entry.call.arguments).touches:
                if touch.action == "read" and touch.path in index.raw_files:
                    latest[touch.path] = results[entry.call_id]
        return self.tokens(latest.values())


def compacted(plan: Plan, text: str) -> tuple[Entry, ...]:
    """The history after an accepted summary: the summary in place of what was cut, then what is kept."""
    taken: Cut = plan.job.cut
    first = (*taken.pinned, *taken.standing, *taken.span)[0]
    size = len(text.encode("utf-8", "replace"))
    summary = Entry(first.number, "user", "text", text, size, first.round, first.turn, summary=True)
    return (summary, *taken.kept)


def _messages(history: Sequence[Entry]) -> int:
    return len({(entry.round, entry.role) for entry in history})
