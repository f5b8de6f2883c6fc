"""The sync face: the same sessions for code without an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from policyengine.kinds.capabilities import Missing
from policyengine.runtime.compaction import Outcome
from policyengine.runtime.events import Event, Tokens
from policyengine.runtime.messages import Image, Message, Text
from policyengine.runtime.places import PendingDisplay, RecordingBuffer
from policyengine.runtime.session import Session
from policyengine.runtime.stated import stated_as
from policyengine.source.errors import InputError

T = TypeVar("T")


class SyncSession:
    """A session that is driven from ordinary code: every member of `Session`, without `await`.

    Its loop runs in a thread of its own; close it, or use `with`. Raises `InputError` for what is no `Session`.
    """

    def __init__(self, session: Session) -> None:
        self.session = stated_as(session, "session", "a Session, as `Adapter.session` gives it", Session)
        """The session itself."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="policyengine-session", daemon=True)
        self._thread.start()

    @property
    def id(self) -> str:
        """The session's id, in records and in a saved file."""
        return self.session.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history as it is now."""
        return self.session.messages

    @property
    def state(self) -> str:
        """`idle`, `responding`, `waiting_for_confirmation` or `summarizing`."""
        return self.session.state

    @property
    def accepts_message(self) -> bool:
        """Whether a message may be sent now."""
        return self.session.accepts_message

    @property
    def suggestions(self) -> bool:
        """Whether follow-up suggestions may be shown."""
        return self.session.suggestions

    @property
    def usage(self) -> Mapping[str, tuple[Tokens, ...]]:
        """Tokens of every model call, aborted ones too, by the model that took them."""
        return self._done(lambda: self.session.usage)

    @property
    def findings(self) -> tuple[Missing, ...]:
        """What the models of this session lack of what the policies ask of them."""
        return self.session.findings

    @property
    def display(self) -> PendingDisplay:
        """What the pending item on the screen holds."""
        return self.session.display

    @property
    def recording(self) -> RecordingBuffer:
        """What the recording would hold of an answer that is still being written."""
        return self.session.recording

    def send(
        self,
        message: str | Sequence[Text | Image],
        *,
        model: str | None = None,
        turn_kind: str = "interactive",
    ) -> Iterator[Event]:
        """Send a message; the events of the turn. See `Session.send`."""
        return self._events(self.session.send(message, model=model, turn_kind=turn_kind))

    def retry(self) -> Iterator[Event]:
        """Try the last message again. See `Session.retry`."""
        return self._events(self.session.retry())

    def confirm(self, call_id: str, yes: bool) -> bool:
        """Answer a `ConfirmationAsked`, also while events are being read."""
        return self._done(lambda: self.session.confirm(call_id, yes))

    def compact(self) -> Outcome:
        """Compact now. See `Session.compact`."""
        return self._run(self.session.compact())

    def helper(self, prompt: str, *, system: str = "", max_output_tokens: int | None = None) -> str | None:
        """A short answer of the fast model beside the conversation. See `Session.helper`."""
        return self._run(self.session.helper(prompt, system=system, max_output_tokens=max_output_tokens))

    def switch_model(self, model: str, *, window: int | None = None) -> None:
        """Another primary model from the next round on. See `Session.switch_model`."""
        self._done(lambda: self.session.switch_model(model, window=window))

    def clear(self) -> None:
        """Forget the conversation. See `Session.clear`."""
        self._done(self.session.clear)

    def save(self, path: str | Path) -> None:
        """Write the session's recording to a file. See `Session.save`."""
        self._done(lambda: self.session.save(path))

    def close(self) -> None:
        """Stop what runs, and the thread."""
        if self._loop.is_closed():
            return
        self._run(self.session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _events(self, events: AsyncIterator[Event]) -> Iterator[Event]:
        async def step() -> Event | None:
            return await anext(events, None)

        async def end() -> None:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

        try:
            while (event := self._run(step())) is not None:
                yield event
        finally:
            self._run(end())

    def _run(self, step: Coroutine[Any, Any, T]) -> T:
        wrong = None
        if self._loop.is_closed():
            wrong = "the session is closed"
        elif threading.current_thread() is self._thread:
            wrong = "a SyncSession cannot wait within its own loop; await its `session` there"
        if wrong is not None:
            step.close()
            raise InputError(wrong)
        return asyncio.run_coroutine_threadsafe(step, self._loop).result()

    def _done(self, step: Callable[[], T]) -> T:
        """Do something in the thread of the loop, where nothing else changes meanwhile."""
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            return step()

        async def do() -> T:
            return step()

        return self._run(do())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
