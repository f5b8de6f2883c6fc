"""A summarizer that keeps the artefact trail: `policyengine.compression` behind the adapter's interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.cut import Cut
from policyengine.compression.history import Entry
from policyengine.compression.method import Answer, Ask, Product, Refusal, run, run_async
from policyengine.compression.methods import METHODS
from policyengine.compression.summary import Standing
from policyengine.kinds.bundle import Bundle
from policyengine.kinds.loop import Loop
from policyengine.runtime.entries import Entries
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.stated import stated_as
from policyengine.runtime.summarizer import StopReason, Summary, SummaryAnswer, SummaryJob

_STOPS: Final[Mapping[str, StopReason]] = {
    "truncated": "length", "tool_call": "tool_calls", "empty": "stop", "error": "error",
}  # fmt: skip
"""A refusal as CompactionResult knows it; whatever was wrong with an answer's form is `rejected`."""


class CompressingSummarizer:
    """Summarises by the bundle's policies: method, sections, limits. One instance serves one session
    (`Adapter.session(..., summarizer=...)`).

    `standing` is what the last compaction left (`Standing.from_json` reads a stored one). With `rescue`, an extractive
    summary takes the place of one that a model could not give.
    """

    def __init__(
        self, bundle: Bundle, *, standing: Standing | None = None, wish: Wish | None = None, rescue: bool = False
    ) -> None:
        stated_as(bundle, "bundle", "a Bundle, as `load` gives it", Bundle)
        self._compressor = Compressor(Loop(bundle))
        self._standing = standing or Standing()
        self._wish = wish or Wish()
        self._rescue = rescue
        self._proposed: tuple[str, Standing] | None = None

    @property
    def standing(self) -> Standing:
        """What stands, once a summary has been accepted and the history shows it."""
        return self._standing

    async def summarize(self, job: SummaryJob) -> Summary:
        """Summarise. What a refused answer was is in `stop_reason`; the history then stays as it was."""
        self._take_accepted(job.messages)
        history = Entries(self._standing.index.rounds)
        history.extend(job.messages)
        index = self._compressor.indexer.extended(self._standing.index, history.all_rounds())
        taken = _cut(history.entries, self._standing)
        plan = self._compressor.plan_cut(taken, index, self._standing, self._wish, model_available=True)
        answers: list[SummaryAnswer] = []

        async def ask(question: Ask) -> Answer:
            answers.append(await job.call(_messages(question)))
            stop = answers[-1].stop_reason
            return Answer(answers[-1].text, "error" if stop == "rejected" else stop)

        outcome = await run_async(plan.steps(), ask)
        last = answers[-1] if answers else SummaryAnswer("stop")
        if isinstance(outcome, Refusal) and self._rescue:
            outcome = run(METHODS["extractive"](plan.job))
            last = SummaryAnswer("stop")
        if isinstance(outcome, Product):
            self._proposed = (outcome.text, outcome.standing)
            return Summary("stop", outcome.text, last.output_tokens, last.reasoning_tokens)
        stop = "rejected" if last.stop_reason == "rejected" else _STOPS.get(outcome.problem, "rejected")
        return Summary(stop, "", last.output_tokens, last.reasoning_tokens)

    def _take_accepted(self, messages: Sequence[Message]) -> None:
        """A summary that was proposed counts once it stands in the history: the policies may have refused it."""
        if self._proposed is not None:
            text, standing = self._proposed
            if any(text.strip() in shown for message in messages if message.summary for shown in _texts(message)):
                self._standing = standing
        self._proposed = None


def _texts(message: Message) -> list[str]:
    return [block.text for block in message.blocks if isinstance(block, Text)]


def _messages(question: Ask) -> list[Message]:
    """A question for the session's own model: its system text stays as it is, so ours begins the first message."""
    first, *rest = question.messages
    texts = [f"{question.system}\n\n{first}", *rest]
    return [Message("assistant" if number % 2 else "user", (Text(text),)) for number, text in enumerate(texts)]


def _cut(entries: Sequence[Entry], standing: Standing) -> Cut:
    """The adapter has cut the history already: all of it is span, but for the task and what stands."""
    earlier = tuple(entry for entry in entries if entry.summary)
    task = next((e for e in entries if e.role == "user" and e.kind == "text" and not e.summary), None)
    pinned = (task,) if task is not None and not standing.task and not earlier else ()
    span = tuple(entry for entry in entries if not entry.summary and entry not in pinned)
    return Cut(pinned, earlier, span, ())
