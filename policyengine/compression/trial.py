"""A compaction of a recorded session tried out: the summary, what it cost, and its score. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from policyengine.compression.compressor import Compressor, Plan, Wish
from policyengine.compression.cycles import run_plan
from policyengine.compression.history import Entry, entries
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.method import Answer, Ask, Attempt, Outcome, Product
from policyengine.compression.methods import METHODS
from policyengine.compression.probing import Probes, build
from policyengine.compression.record import text_of
from policyengine.compression.scoring import Score, score
from policyengine.compression.stand_in import stand_in
from policyengine.compression.stated import vocabulary
from policyengine.compression.triggers import asked
from policyengine.kinds.made import Made
from policyengine.sessions.model import Session
from policyengine.source.errors import InputError

Author = Literal["model", "stand-in", "index", "recorded"]
"""Who wrote a summary: a model, a deterministic answer in a model's place, the index alone, the recorded product."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One way of compacting. Sizes in tokens, estimated. `attempts` are the answers that were refused.

    `text` is empty where no summary was accepted; `score` is None then.
    """

    method: str
    author: Author
    rule: str | None
    at: int
    span_tokens: int
    kept_tokens: int
    summary_tokens: int
    text: str
    score: Score | None
    plan: Plan | None = None
    outcome: Outcome | None = None

    @property
    def ratio(self) -> float | None:
        """Share of the span that the summary saves; None where there is no summary."""
        return 1 - self.summary_tokens / self.span_tokens if self.text and self.span_tokens else None

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The answers that were refused."""
        return self.outcome.attempts if self.outcome is not None else ()


class Trials:
    """Tries compactions of one session at one place, all scored by the same probes.

    `at` is the round (1-based) whose send is compacted; without it the first recorded compaction, else the end.
    """

    def __init__(self, compressor: Compressor, session: Session, at: int | None = None) -> None:
        self.compressor = compressor
        self.session = session
        self.at = at if at is not None else default_round(session)
        last = len(session.rounds) + 1
        if last < 2:
            raise InputError(f"{session.path}: this session has no round, so there is nothing to compact")
        if not 1 < self.at <= last:
            raise InputError(f"{session.path}: give a round from 2 to {last} to compact before, not {self.at}")
        self.history = entries(session, self.at)
        self.index = compressor.indexer.of(session, self.at)
        self._known = "\n".join(text_of(entry) for entry in self.history)

    def run(self, wish: Wish, model: Callable[[Ask], Answer] | None = None) -> Trial:
        """One compaction as the policies and the person decide. Raises InputError where nothing can be cut."""
        plan = self._plan(wish, model_available=model is not None)
        if plan is None:
            raise InputError(f"{self.session.path}: before round {self.at} nothing can be cut off safely")
        author: Author = "index" if plan.method == "extractive" else "model"
        return self._tried(plan, author, (lambda _, ask: model(ask)) if model is not None else None)

    def compare(self, model: Callable[[Ask], Answer] | None = None) -> Iterator[Trial]:
        """Every method, keeping nothing, and first the recorded product's own summary where there is one.

        Without a model, stand-ins answer in its place.
        """
        recorded = self.recorded()
        if recorded is not None:
            yield recorded
        for method in METHODS:
            plan = self._plan(Wish(method, keep_nothing=True, force=True), model_available=True)
            if plan is None:
                raise InputError(f"{self.session.path}: before round {self.at} nothing can be cut off safely")
            if method == "extractive":
                yield self._tried(plan, "index", None)
            elif model is None:
                yield self._tried(plan, "stand-in", stand_in)
            else:
                yield self._tried(plan, "model", lambda _, ask: model(ask))

    def recorded(self) -> Trial | None:
        """The summary that the recorded product wrote at this round; None where it wrote none."""
        if not any(item.round == self.at for item in self.session.recorded_compactions):
            return None
        written = next((entry for entry in entries(self.session, self.at + 1) if entry.summary), None)
        if written is None or not written.text:
            return None
        return self._trial(written.text, "recorded", "recorded", self.history, (), self.probes(), None, None, None)

    def trigger(self, window: int | None = None) -> Made:
        """What CompressionTriggers says of this send. `window` (tokens) in place of the session's or its model's."""
        loop = self.compressor.loop
        window = window or self.session.window or loop.window(self.session.model)
        return asked(self.compressor, self.history, self.index, window=window)

    def probes(self, plan: Plan | None = None) -> Probes:
        """The probes of the history, or of what a plan takes away of it."""
        removed: ArtefactIndex | None = None
        if plan is not None and plan.job.cut.kept:
            removed = self.compressor.removed(self.session, plan, self.at)
        return build(self.compressor.loop.bundle, self.index, removed)

    def score(self, text: str, probes: Probes) -> Score:
        """The score of any text as a summary of this history."""
        loop = self.compressor.loop
        return score(loop.bundle, probes, text, list(self.index.files), vocabulary(loop), self._known)

    def _plan(self, wish: Wish, *, model_available: bool) -> Plan | None:
        return self.compressor.plan(self.history, self.index, None, wish, model_available=model_available)

    def _tried(self, plan: Plan, author: Author, model: Callable[[Plan, Ask], Answer] | None) -> Trial:
        outcome = run_plan(plan, model)
        text = outcome.text if isinstance(outcome, Product) else ""
        rules = plan.made[0].decision.rules
        cut = plan.job.cut
        span = (*cut.pinned, *cut.standing, *cut.span)
        rule = rules[0] if rules else None
        return self._trial(text, plan.method, author, span, cut.kept, self.probes(plan), rule, plan, outcome)

    def _trial(
        self,
        text: str,
        method: str,
        author: Author,
        span: tuple[Entry, ...],
        kept: tuple[Entry, ...],
        probes: Probes,
        rule: str | None,
        plan: Plan | None,
        outcome: Outcome | None,
    ) -> Trial:
        compressor = self.compressor
        return Trial(
            method,
            author,
            rule,
            self.at,
            compressor.tokens(span),
            compressor.tokens(kept),
            compressor.text_tokens(text),
            text,
            self.score(text, probes) if text else None,
            plan,
            outcome,
        )


def default_round(session: Session) -> int:
    """Where a compaction is tried unless somebody says so: where one was recorded first, else at the end."""
    recorded = [item.round for item in session.recorded_compactions]
    return recorded[0] if recorded else len(session.rounds) + 1
