"""A session: messages in, typed events out."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from policyengine.kinds.capabilities import Missing
from policyengine.runtime.batch import BatchRunner, Confirmations
from policyengine.runtime.compaction import Compactor, Outcome
from policyengine.runtime.core import Core
from policyengine.runtime.errors import NothingToRetryError, SessionBusyError
from policyengine.runtime.events import (
    CapabilityMissing,
    Event,
    ReasoningChunk,
    TextChunk,
    Tokens,
    ToolKindUnknown,
    TurnEnded,
    WindowUnknown,
)
from policyengine.runtime.helper import helper_call
from policyengine.runtime.lacks import WITHOUT_KIND, lacks, without_window
from policyengine.runtime.messages import Image, Message, Text
from policyengine.runtime.places import PendingDisplay, RecordingBuffer
from policyengine.runtime.stated import stated, stated_as, stated_text, stated_tokens
from policyengine.runtime.summarizer import Summarizer
from policyengine.runtime.switches import Switches
from policyengine.runtime.turn import Start, Turn
from policyengine.runtime.voice import Voice
from policyengine.source.errors import InputError


class Session:
    """One conversation. Made by `Adapter.session`; used from one event loop.

    The history is valid at every moment, also where reading is broken off or the task is cancelled.
    """

    def __init__(
        self, core: Core, summarizer: Summarizer, switches: Switches, between_rounds: Callable[[], Any],
        display: PendingDisplay, recording: RecordingBuffer, voice: Voice,
    ) -> None:  # fmt: skip
        self._core = core
        self._switches = switches
        self._confirmations = Confirmations()
        self._compactor = Compactor(core, summarizer)
        self._batches = BatchRunner(core, self._confirmations)
        self._between_rounds = between_rounds
        self._turn: Turn | None = None
        self._last: Start | None = None
        self._unread: deque[Event] = deque()
        self._windowless: set[str] = set()
        self.findings: tuple[Missing, ...] = ()
        """What the models of this session lack of what the policies ask of them."""
        self._look_at(core.settings.primary, "primary")
        if (fast := core.fast_model()) is not None:
            self._look_at(fast, "fast")
        if unknown := self._batches.unknown_kinds():
            self._say(ToolKindUnknown(unknown, WITHOUT_KIND))
        self.display = display
        """What the pending item on the screen holds."""
        self.recording = recording
        """What the recording would hold of an answer that is still being written."""
        voice.listen(self._say)

    @property
    def id(self) -> str:
        """The session's id, in records and in a saved file."""
        return self._core.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as it is now."""
        return self._core.history.messages

    @property
    def state(self) -> str:
        """`idle`, `responding`, `waiting_for_confirmation` or `summarizing`."""
        return self._core.presentation.state

    @property
    def accepts_message(self) -> bool:
        """Whether a message may be sent now."""
        return self._turn is None or self._core.presentation.accepts_message

    @property
    def suggestions(self) -> bool:
        """Whether follow-up suggestions may be shown."""
        return self._core.presentation.suggestions

    @property
    def usage(self) -> Mapping[str, tuple[Tokens, ...]]:
        """Tokens of every model call, aborted ones too, by the model that took them."""
        return {model: tuple(taken) for model, taken in self._core.usage.items()}

    def send(
        self,
        message: str | Sequence[Text | Image],
        *,
        model: str | None = None,
        turn_kind: str = "interactive",
    ) -> AsyncIterator[Event]:
        """Send a message; read the turn's events with `async for`.

        `model` is an explicit choice for this turn and beats every optimisation. `turn_kind` is `interactive`,
        `notification`, `cron` or `subagent`. Reading may be broken off: the turn is then cancelled.

        Raises `InputError` for a message that is none, for another `turn_kind`, and for a model that nobody serves;
        when reading begins, `SessionBusyError` where a turn runs that takes no message (one that only sums up
        does: its answer is replaced), `ProviderError` at the end of a turn that failed, and `LogError` where a
        decision could not be recorded and the Logging policy says to stop then.
        """
        if not isinstance(message, str | Sequence):
            raise InputError("a message is a text, or a list of texts and images")
        blocks = (Text(message),) if isinstance(message, str) else tuple(message)
        if not blocks or not all(_fits(block) for block in blocks):
            raise InputError("a message is a text, or a list of texts and images")
        if isinstance(message, str) and not message.strip():
            raise InputError("the message is empty")
        stated(turn_kind, "turn_kind", "routing")
        if model is not None:
            self._check_served(model)
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
        return self._send(blocks, Start(uuid.uuid4().hex, text, turn_kind, model))

    def retry(self) -> AsyncIterator[Event]:
        """Try the last message again after a failed turn: same prompt id, and the message is not pushed again.

        Raises `NothingToRetryError` where the last message has its answer.
        """
        messages = self._core.history.messages
        if self._last is None or not messages or (messages[-1].role == "assistant"):
            raise NothingToRetryError
        last = self._last
        return self._send((), Start(last.prompt_id, last.text, last.kind, last.model, again=True))

    def confirm(self, call_id: str, yes: bool) -> bool:
        """Answer a `ConfirmationAsked`. False where no such question waits."""
        return self._confirmations.answer(call_id, yes)

    async def compact(self) -> Outcome:
        """Compact now, because the person asks for it. Raises `SessionBusyError` while a turn runs, and `LogError` as
        `send` does."""
        if self._turn is not None:
            raise SessionBusyError(self.state)
        core = self._core
        core.advisor.check_log()
        try:
            outcome = await self._compact()
        finally:
            core.advisor.write({"session_id": core.id}, {"CompactionResult": {"compaction_rt_ms": core.compaction_ms}})
        await core.advisor.settle_log()
        return outcome

    async def _compact(self) -> Outcome:
        core = self._core
        before = await core.advisor.before_send(
            core.state, core.count(), window=core.window_of(core.settings.primary), prompts=core.sent, asked=True
        )
        core.state = before.state
        if not before.compact:
            return Outcome(before.reason)
        return await self._compactor.compact(before, core.settings.primary)

    async def helper(self, prompt: str, *, system: str = "", max_output_tokens: int | None = None) -> str | None:
        """A short answer of the fast model beside the conversation: a label, a suggestion. None where the policy
        FastAccess does not let it through (helper calls and routing share one limit), or where the call failed.

        `max_output_tokens` bounds the answer. Raises `InputError` for what is no text or no number of tokens."""
        stated_text(prompt, "prompt", empty=False)
        stated_text(system, "system")
        max_output_tokens = stated_tokens(max_output_tokens, "max_output_tokens")
        return await helper_call(self._core, self._switches, prompt, system, max_output_tokens)

    def switch_model(self, model: str, *, window: int | None = None) -> None:
        """Another primary model from the next round on. Where the history is too large for it, it is compacted
        first, by the model before. `window` in tokens comes before the catalogue's. Raises `InputError`."""
        core = self._core
        self._check_served(model)
        if (known := stated_tokens(window, "window")) is not None:
            core.settings.windows[model] = known
        core.settings.primary = model
        core.choices.at("model_switched")
        self._look_at(model, "primary")

    def clear(self) -> None:
        """Forget the conversation. Raises `SessionBusyError` while a turn runs."""
        if self._turn is not None:
            raise SessionBusyError(self.state)
        core = self._core
        core.history.clear()
        core.transcript.cleared(core.now_ms())
        core.last_prompt_tokens, core.counted, core.errors = 0, 0, frozenset()
        core.compacted_or_cleared = True

    def save(self, path: str | Path) -> None:
        """Write the session's recording to a file that `replay` reads and `Adapter.resume` takes up again. Raises
        `InputError` where it cannot be written."""
        stated_as(path, "path", "the path of a file", (str, Path))
        self._core.transcript.save(path)

    async def close(self) -> None:
        """Stop what runs."""
        turn = self._turn
        if turn is not None and turn.task is not None:
            turn.task.cancel()
            await asyncio.wait({turn.task})

    def _say(self, event: Event) -> None:
        """Take an event for whoever reads the running turn, or for the next one."""
        turn = self._turn
        if turn is None:
            self._unread.append(event)
        elif not (turn.aborted and isinstance(event, TextChunk | ReasoningChunk)):
            # A chunk that arrives at the instant of the abort does not slip in.
            turn.channel.put(event)

    def _check_served(self, model: str) -> None:
        """Raise `InputError` for a model that no provider serves."""
        if not self._core.serves(stated_text(model, "model", empty=False)):
            raise InputError(f"nobody serves the model {model}")

    async def _send(self, blocks: tuple[Text | Image, ...], start: Start) -> AsyncIterator[Event]:
        await self._make_way()
        core = self._core
        # Nothing waits between here and the start of the turn: two sends cannot both get through.
        core.choices.at("user_retry" if start.again else "user_turn")
        if start.model is not None:
            self._check_served(start.model)
            core.choices.explicit_model = start.model
            self._look_at(start.model, "primary")
        if core.history.push_user(blocks, start.prompt_id) if blocks else False:
            core.prompts += 1
            core.sent += start.kind == "interactive"
            core.answers = []
            core.transcript.user(core.history.messages[-1], start.kind, core.now_ms(), model=start.model)
        self._last = start
        turn = Turn(core, start, self._compactor, self._batches, self._switches, self._between_rounds)
        self._turn = turn
        while self._unread:
            turn.channel.put(self._unread.popleft())
        task = turn.task = asyncio.create_task(turn.run())
        task.add_done_callback(lambda done: self._ended(turn, done))
        try:
            while (event := await turn.channel.get()) is not None:
                # What was read a moment before the abort and waits here is withdrawn too.
                if not (turn.aborted and isinstance(event, TextChunk | ReasoningChunk)):
                    yield event
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def _make_way(self) -> None:
        """Wait for a turn that ends, replace one that takes a message, refuse beside any other."""
        replacing: Turn | None = None
        while (turn := self._turn) is not None and turn.task is not None:
            task = turn.task
            if not task.cancelling() and not task.done():
                # A reader that was just dropped cancels its turn in the loop's next steps.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                if self._turn is not turn:
                    continue
            if not task.cancelling() and not task.done():
                if replacing is not None or not self._core.presentation.at("message")["discard"]:
                    raise SessionBusyError(self.state)
                replacing = turn
                turn.abort()
            elif turn.aborted and replacing is not turn:
                # Another message has already taken the answer's place.
                raise SessionBusyError("responding")
            await asyncio.wait({task})
            await asyncio.sleep(0)

    def _look_at(self, model: str, call: Literal["fast", "primary"]) -> None:
        """Say what a model lacks, and that its window is unknown, once."""
        if self._core.window_of(model) is None and model not in self._windowless:
            self._windowless.add(model)
            self._say(WindowUnknown(model, call, without_window(call)))
        for found in lacks(self._core.live(), model, call, tools=bool(self._core.tools)):
            if found not in self.findings:
                self.findings += (found,)
                self._say(CapabilityMissing(model, found.wish, found.message, found.instead))

    def _ended(self, turn: Turn, task: asyncio.Task[None]) -> None:
        """The turn is over, however it came to that."""
        if not turn.closed:
            # It was cancelled before its first step.
            self._say(TurnEnded(turn.turn_id, turn.status, 0))
        turn.channel.close()
        if not task.cancelled():
            # Its error goes to the reader; where nobody reads any more, it is not reported as forgotten.
            task.exception()
        if self._turn is turn:
            self._turn = None


def _fits(block: object) -> bool:
    """Whether something is a part of a message."""
    if isinstance(block, Text):
        return isinstance(block.text, str)
    return isinstance(block, Image) and isinstance(block.media_type, str) and isinstance(block.data, str)
