"""A summariser that keeps the artefact trail: `policyengine.compression` behind the adapter's interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.cut import Cut
from policyengine.compression.history import Entry
from policyengine.compression.method import Answer, Ask, Product, Refusal, run, run_async
from policyengine.compression.methods import METHODS
from policyengine.compression.summary import Standing
from policyengine.kinds.loop import Loop
from policyengine.runtime.messages import Call, Image, Message, Result, Text, Thinking
from policyengine.runtime.summarizer import StopReason, Summary, SummaryAnswer, SummaryJob
from policyengine.sessions.content import fingerprint, size, to_json
from policyengine.sessions.model import Part, PartKind, Round, ToolCall, ToolResult

_STOPS: Final[Mapping[str, StopReason]] = {
    "truncated": "length", "tool_call": "tool_calls", "empty": "stop", "error": "error",
}  # fmt: skip
"""A refusal as CompactionResult knows it; whatever was wrong with an answer's form is `rejected`."""


class CompressingSummarizer:
    """Summarises by the bundle's policies: method, sections, limits. One instance serves one session.

    `standing` is what the last compaction left (`Standing.from_json` reads a stored one). With `rescue`, an extractive
    summary takes the place of one that a model could not give.
    """

    def __init__(
        self, loop: Loop, *, standing: Standing | None = None, wish: Wish | None = None, rescue: bool = False
    ) -> None:
        self._compressor = Compressor(loop)
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
        history = _History.of(job.messages, self._standing)
        index = self._compressor.indexer.extended(self._standing.index, history.rounds)
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


@dataclass(frozen=True, slots=True)
class _History:
    """Messages as entries to summarise and rounds to index. Numbers go on from what the index has seen."""

    entries: tuple[Entry, ...]
    rounds: tuple[Round, ...]

    @classmethod
    def of(cls, messages: Sequence[Message], standing: Standing) -> _History:
        results = {b.call_id: b for m in messages for b in m.blocks if isinstance(b, Result)}
        entries: list[Entry] = []
        rounds: list[Round] = []
        number = 1
        turn, waiting = 1, ()  # type: tuple[int, tuple[Part, ...]]
        for message in messages:
            index = standing.index.rounds + len(rounds) + 1
            calls = {b.id: _call(b, results.get(b.id)) for b in message.blocks if isinstance(b, Call)}
            if message.role == "user" and not message.summary:
                turn += bool(rounds)
            parts = tuple(_part(block) for block in message.blocks)
            for block, part in zip(message.blocks, parts, strict=True):
                entry = Entry(number, message.role, part.kind, part.text, part.bytes, index, turn, call_id=part.call_id)
                if isinstance(block, Call):
                    entry = replace(entry, call=calls[block.id])
                elif isinstance(block, Result):
                    entry = replace(entry, error=block.error)
                entries.append(replace(entry, summary=message.summary))
                number += 1
            if message.role == "assistant" and not message.summary:
                rounds.append(Round(index, turn, 0, None, None, waiting, parts, tuple(calls.values()), False))
                waiting = ()
            elif not message.summary:
                waiting = (*waiting, *parts)
        if waiting:
            index = standing.index.rounds + len(rounds) + 1
            rounds.append(Round(index, turn, 0, None, None, waiting, (), (), False))
        return cls(tuple(entries), tuple(rounds))


def _part(block: Text | Image | Thinking | Call | Result) -> Part:
    if isinstance(block, Text):
        return Part("text", block.text, size(block.text))
    if isinstance(block, Image):
        return Part("image", None, len(block.data))
    if isinstance(block, Thinking):
        return Part("thinking", block.text, size(block.text))
    if isinstance(block, Call):
        text = block.raw_arguments if block.raw_arguments is not None else to_json(dict(block.arguments))
        return Part("tool_call", text, size(text), block.id)
    text = "\n".join(part.text for part in block.parts if isinstance(part, Text))
    return Part("tool_result", text, size(text), block.call_id)


def _call(block: Call, result: Result | None) -> ToolCall:
    arguments = block.raw_arguments if block.raw_arguments is not None else dict(block.arguments)
    found = None
    if result is not None:
        parts = tuple(replace(_part(part), kind=_RESULT) for part in result.parts)
        found = ToolResult(parts, sum(part.bytes for part in parts), result.error, result.cancelled)
    return ToolCall(block.id, block.name, arguments, fingerprint(arguments), found)


_RESULT: Final[PartKind] = "tool_result"
