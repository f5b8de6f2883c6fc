"""Several compactions in a row over one recorded session: what each method keeps of the first in the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from policyengine.compression.compressor import Compressor, Plan, Wish, compacted
from policyengine.compression.history import Entry, entries
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.method import Answer, Ask, Outcome, Product, run
from policyengine.compression.summary import Standing
from policyengine.sessions.model import Session


@dataclass(frozen=True, slots=True)
class Cycle:
    """One compaction of a row. `at` is the round (1-based) whose send it preceded.

    `whole` is the index over everything before, built in one go, `removed` that over what no longer stands as it was.

    `text` is the summary that stands afterwards, whether or not this compaction was accepted.
    """

    number: int
    at: int
    plan: Plan | None
    outcome: Outcome | None
    text: str
    whole: ArtefactIndex
    removed: ArtefactIndex


def in_a_row(
    compressor: Compressor, session: Session, times: int, wish: Wish, model: Callable[[Plan, Ask], Answer] | None = None
) -> Iterator[Cycle]:
    """Compact a session `times` times, at rounds that divide it evenly.

    Compactions that the recording holds are taken for not having happened.
    """
    last = len(session.rounds) + 1
    everything = entries(session, whole=True)
    standing = Standing()
    history: tuple[Entry, ...] = ()
    taken = 0
    index = ArtefactIndex()
    text = ""
    removed = ArtefactIndex()
    for number in range(1, times + 1):
        at = max(2, 1 + (last - 1) * number // times)
        fresh = tuple(entry for entry in everything[taken:] if _sent_by(entry, at))
        taken += len(fresh)
        history = (*history, *fresh)
        whole = compressor.indexer.of(session, at)
        # The index goes on from what stands, as an agent's would: the test is that nothing is lost on the way.
        done = index.rounds
        index = compressor.indexer.extended(
            index,
            (item for item in session.rounds if done < item.index < at),
            frozenset(item.round for item in session.recorded_compactions),
        )
        plan = compressor.plan(history, index, standing, wish, model_available=model is not None)
        outcome = run_plan(plan, model) if plan is not None else None
        if plan is not None and isinstance(outcome, Product):
            standing, text = outcome.standing, outcome.text
            index = standing.index
            history = compacted(plan, text)
            removed = compressor.removed(session, plan, at)
        yield Cycle(number, at, plan, outcome, text, whole, removed)


def run_plan(plan: Plan, model: Callable[[Plan, Ask], Answer] | None) -> Outcome:
    """Run a plan with a model that is told which plan it answers for."""
    return run(plan.steps(), partial(model, plan) if model is not None else None)


def _sent_by(entry: Entry, at: int) -> bool:
    """Whether an entry is part of the send of round `at`: what came before its response."""
    return entry.round < at or (entry.round == at and entry.role != "assistant")
