"""The interface of every method: a generator that asks a model, is answered, and ends with a product or a refusal.

A method does no input or output of its own, so the same code runs in a test with scripted answers, in a command,
and in an agent's event loop. A refusal changes nothing: the history and the standing summary stay as they were.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from policyengine.compression.cut import Cut
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.merge import Dropped
from policyengine.compression.sections import Layout
from policyengine.compression.summary import Standing

Stop: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]
Problem: TypeAlias = Literal[
    "empty", "truncated", "tool_call", "error", "oversized", "malformed", "missing_section", "ungrounded", "limit"
]


@dataclass(frozen=True, slots=True)
class Ask:
    """What a model is asked. `messages` are texts of user and assistant in turn, the first and last of the user."""

    system: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `stop` other than `stop` is no whole answer, whatever the text looks like."""

    text: str
    stop: Stop = "stop"


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item that an answer brought and that did not hold against the record."""

    section: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A refused answer."""

    problem: Problem
    detail: str


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction: what stood before, the history taken apart, the index that includes the span."""

    layout: Layout
    standing: Standing
    cut: Cut
    index: ArtefactIndex
    cause_words: Sequence[str] = ()

    @property
    def cycle(self) -> int:
        """The number of this compaction, from 1."""
        return self.standing.cycle + 1

    @property
    def task(self) -> str:
        """The task statement: what is pinned, or what an earlier compaction kept."""
        return self.standing.task or "\n\n".join(entry.text for entry in self.cut.pinned if entry.text)


@dataclass(frozen=True, slots=True)
class Product:
    """A summary that was accepted. `text` goes into the history; `standing` is what the next compaction starts from.

    `unfilled` are required sections that hold nothing: only where no model was asked.
    """

    text: str
    standing: Standing
    dropped: tuple[Dropped, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    unfilled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """No summary: every answer was refused. Nothing is stored and the history stays."""

    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def problem(self) -> Problem:
        """What was wrong with the last answer."""
        return self.attempts[-1].problem if self.attempts else "error"


Outcome: TypeAlias = Product | Refusal
Steps: TypeAlias = Generator[Ask, Answer, Outcome]


def run(steps: Steps, model: Callable[[Ask], Answer] | None = None) -> Outcome:
    """Drive a method to its end. Without a model, a method that asks one is refused."""
    answer: Answer | None = None
    try:
        while True:
            ask = next(steps) if answer is None else steps.send(answer)
            answer = model(ask) if model is not None else Answer("", "error")
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


async def run_async(steps: Steps, model: Callable[[Ask], Awaitable[Answer]]) -> Outcome:
    """The same with a model that is awaited. Cancelling it leaves everything as it was."""
    answer: Answer | None = None
    try:
        while True:
            ask = next(steps) if answer is None else steps.send(answer)
            answer = await model(ask)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    finally:
        steps.close()
