"""The adapter: a bundle, providers, a state store and a log, and the sessions that run under them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from policyengine.kinds.bundle import Bundle, load
from policyengine.runtime.advisor import Advisor
from policyengine.runtime.clock import Clock
from policyengine.runtime.core import Core, Settings
from policyengine.runtime.events import BundleChanged, Degraded, Event, HistoryRepaired, Restored
from policyengine.runtime.history import History, repaired
from policyengine.runtime.hooks import Hooks
from policyengine.runtime.journal import AnyLog, Journal, as_log
from policyengine.runtime.live import Live
from policyengine.runtime.places import PendingDisplay, Place, RecordingBuffer
from policyengine.runtime.presentation import Presentation
from policyengine.runtime.provider import Provider
from policyengine.runtime.reload import Reloader
from policyengine.runtime.rollout import Rollout
from policyengine.runtime.session import Session
from policyengine.runtime.state.resilient import ResilientStore
from policyengine.runtime.state.store import MemoryStore, StateStore
from policyengine.runtime.stated import stated_tokens
from policyengine.runtime.summarizer import PlainSummarizer, Summarizer
from policyengine.runtime.switches import Switches
from policyengine.runtime.tools import Tool
from policyengine.runtime.tracing import NoTracing, SafeTracing, Tracing
from policyengine.runtime.transcript import Transcript
from policyengine.source.errors import InputError

KINDS_OF_TOOLS = frozenset({"read", "search", "fetch", "edit", "delete", "move", "execute", "think", "other"})


class Adapter:
    """Runs agent loops under a bundle.

    - `bundle`: a loaded bundle, a folder, or None for the built-in one. A folder can be reloaded (`reload`).
    - `providers`: by their name in the model catalogue, or one after the other.
    - `store`: where breaker, kill switch and rollout stage live; None keeps them in memory. A store that fails never
      stops a turn.
    - `log`: takes decisions: a `policyengine.log.writer.Log`, or a sink, which gets a `Log` of its own in front of it
      (closed with the adapter). Records are built and written in the log's thread. None writes none.
    - `scope`: sessions, adapters and processes with the same scope and store share one kill switch, one rollout stage,
      and, with `shared_breaker`, one breaker.
    - `shadow`: a candidate bundle that decides beside the live one, is logged, and never acts.
    """

    def __init__(
        self,
        bundle: Bundle | str | Path | None,
        providers: Mapping[str, Provider] | Sequence[Provider],
        store: StateStore | None = None,
        log: AnyLog | None = None,
        *,
        hooks: Hooks | None = None,
        summarizer: Summarizer | None = None,
        tracing: Tracing | None = None,
        shadow: Bundle | None = None,
        scope: str = "default",
        shared_breaker: bool = False,
        clock: Callable[[], int] | None = None,
    ) -> None:
        loaded = bundle if isinstance(bundle, Bundle) else load(bundle)
        self._live = Live(loaded, shadow=shadow)
        self.providers: dict[str, Provider] = (
            dict(providers) if isinstance(providers, Mapping) else {one.name: one for one in providers}
        )
        if not self.providers:
            raise InputError("an adapter needs a provider")
        self._store = store or MemoryStore()
        self._log, self._own_log = as_log(log, self._live.recorder, self._live.policy("Logging"))
        self._hooks = hooks or Hooks()
        self._summarizer = summarizer or PlainSummarizer()
        self._tracing = tracing or NoTracing()
        self._scope, self._shared_breaker = scope, shared_breaker
        self.rollout = Rollout(self._store, scope)
        """Stage and kill switch of this scope: what `policyengine gate rollout --state` decides, or a person."""
        self._now = clock or Clock().now_ms
        self.reloader = Reloader(self)

    @property
    def live(self) -> Live:
        """The bundle that serves now."""
        return self._live

    @property
    def bundle(self) -> Bundle:
        """The bundle that serves now."""
        return self._live.bundle

    def now_ms(self) -> int:
        """The adapter's clock: Unix time in ms that never goes back."""
        return self._now()

    def swap(self, bundle: Bundle) -> None:
        """Put another bundle in place, as a whole; running rounds end under the old one."""
        self._live = Live(bundle, shadow=self._live.shadow)

    def shadow(self, bundle: Bundle | None) -> None:
        """Let a candidate decide beside the live bundle from now on; None ends it."""
        self._live = Live(self._live.bundle, shadow=bundle)

    async def reload(self, path: str | Path | None = None) -> bool:
        """Read a changed bundle, check it, run its tests, and put it in place. False where it was refused; the last
        good one goes on (see `reloader.status`)."""
        return await self.reloader.reload(path)

    def session(
        self,
        primary: str,
        *,
        fast: str | None = None,
        system: str = "",
        memory: str = "",
        tools: Iterable[Tool] = (),
        window: int | None = None,
        fast_window: int | None = None,
        max_output: int | None = None,
        fast_max_output: int | None = None,
        strategy: str = "auto",
        always_summarize: bool = False,
        fast_routing: bool | None = None,
        strict_template: bool = False,
        mirrors: Iterable[Place] = (),
        summarizer: Summarizer | None = None,
        session_id: str | None = None,
    ) -> Session:
        """A new session.

        `primary` and `fast` are models; without `fast` the bundle names one for the provider. Windows and output
        limits, in tokens, come before the catalogue's; 0 and None are unknown. `fast_routing` is the person's word on
        the fast model (None: as far as it is rolled out). `memory` is the part of the system text that changes when
        something is remembered. `mirrors` show the answer elsewhere while it grows. `summarizer` is this session's own,
        for those that keep a state. `always_summarize` lets no round be skipped after tools.

        Raises `InputError` for what is no number of tokens.
        """
        settings = Settings(
            primary=primary,
            fast=fast,
            system=system,
            memory=memory,
            windows=_stated("window", primary, window, fast, fast_window),
            max_outputs=_stated("max_output", primary, max_output, fast, fast_max_output),
            strategy=strategy,
            always_summarize=always_summarize,
            fast_routing=fast_routing,
            strict_template=strict_template,
        )
        name = session_id or uuid.uuid4().hex
        return self._session(settings, tools, mirrors, Transcript(name), History(), (), summarizer)

    def resume(
        self,
        path: str | Path,
        primary: str,
        *,
        fast: str | None = None,
        system: str = "",
        memory: str = "",
        tools: Iterable[Tool] = (),
        window: int | None = None,
        fast_window: int | None = None,
        max_output: int | None = None,
        fast_max_output: int | None = None,
        fast_routing: bool | None = None,
        strategy: str = "auto",
        always_summarize: bool = False,
        mirrors: Iterable[Place] = (),
        summarizer: Summarizer | None = None,
    ) -> Session:
        """Take up a saved session. What is not valid in its history is repaired, and the first event says so.

        No count of tokens is known then: the first send is measured from the history's size.
        """
        transcript = Transcript.load(path)
        settings = Settings(
            primary=primary,
            fast=fast,
            system=system,
            memory=memory,
            windows=_stated("window", primary, window, fast, fast_window),
            max_outputs=_stated("max_output", primary, max_output, fast, fast_max_output),
            fast_routing=fast_routing,
            strategy=strategy,
            always_summarize=always_summarize,
        )
        provider = self._live.loop.model(primary)["provider"] or next(iter(self.providers))
        repair = self._live.policy("HistoryRepair").outcome({"provider": provider, "strict_template": False})
        messages, done = repaired(
            transcript.messages(),
            orphan_call=repair["orphan_call"],
            orphan_result=repair["orphan_result"],
            cancelled=self._live.settings["interrupted"],
        )
        said: tuple[Event, ...] = ()
        if done.changed:
            said = (
                HistoryRepaired(
                    done.answered_calls, done.dropped_calls, done.dropped_results, done.moved_results,
                    done.dropped_messages,
                ),
            )  # fmt: skip
        return self._session(settings, tools, mirrors, transcript, History(messages), said, summarizer)

    async def close(self) -> None:
        """Release the store, the providers' connections, and the log where it is the adapter's own."""
        await self._store.close()
        for provider in self.providers.values():
            await provider.close()
        if self._own_log is not None:
            await asyncio.to_thread(self._own_log.close)

    def _session(
        self,
        settings: Settings,
        tools: Iterable[Tool],
        mirrors: Iterable[Place],
        transcript: Transcript,
        history: History,
        said: Iterable[Event],
        summarizer: Summarizer | None,
    ) -> Session:
        registered = _registered(tools)
        numbers = self._live.settings
        voice = _Voice()
        say = voice.say
        store = ResilientStore(
            self._store,
            timeout_s=numbers["store_timeout_ms"] / 1000,
            retry_s=numbers["store_retry_ms"] / 1000,
            on_down=lambda error: say(Degraded("store", "local state goes on", error)),
            on_up=lambda: say(Restored("store")),
        )
        journal = Journal(
            self._log,
            on_down=lambda error: say(Degraded("log", "decisions go on without records", error)),
            on_up=lambda: say(Restored("log")),
        )
        name = transcript.session_id
        pinned = _Pinned(self)
        advisor = Advisor(
            pinned.current,
            store,
            scope=self._scope if self._shared_breaker else name,
            journal=journal,
            hooks=self._hooks,
            say=say,
            clock=self._now,
        )
        display, recording = PendingDisplay(), RecordingBuffer()
        tracing = SafeTracing(self._tracing, lambda error: say(Degraded("trace", "the turn goes on untraced", error)))
        core = Core(
            id=name,
            live=pinned.current,
            settings=settings,
            providers=self.providers,
            tools=registered,
            store=store,
            advisor=advisor,
            history=history,
            transcript=transcript,
            presentation=Presentation(advisor.ask, say),
            say=say,
            now_ms=self._now,
            tracing=tracing,
            places=(display, recording, *mirrors),
        )
        core.prompts, core.sent = transcript.starts()
        if not core.serves(settings.primary):
            core.provider_of(settings.primary)

        told = self.reloader.told

        async def between_rounds() -> None:
            nonlocal told
            await self.reloader.between_rounds()
            for event in self.reloader.since(told):
                told += 1
                say(event)
            changed = pinned.follow()
            if changed is not None:
                say(changed)

        switches = Switches(Rollout(store, self._scope), advisor, self._now)
        session = Session(core, summarizer or self._summarizer, switches, between_rounds, display, recording)
        voice.to = session.say
        for event in (*said, *voice.early):
            session.say(event)
        return session


class _Voice:
    """Events before and after there is a session that takes them."""

    def __init__(self) -> None:
        self.early: list[Event] = []
        self.to: Callable[[Event], None] = self.early.append

    def say(self, event: Event) -> None:
        self.to(event)


class _Pinned:
    """The bundle of a session: that of the adapter, taken over only between two rounds."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._live = adapter.live

    def current(self) -> Live:
        return self._live

    def follow(self) -> BundleChanged | None:
        before, self._live = self._live, self._adapter.live
        if before.digest == self._live.digest:
            return None
        return BundleChanged(self._live.digest, before.digest)


def _stated(name: str, primary: str, value: int | None, fast: str | None, fast_value: int | None) -> dict[str, int]:
    """Tokens that were stated for the models of a session, by model. Raises `InputError`."""
    found = {primary: stated_tokens(value, name)}
    if fast is not None:
        found = {fast: stated_tokens(fast_value, f"fast_{name}"), **found} if fast != primary else found
    return {model: tokens for model, tokens in found.items() if tokens is not None}


def _registered(tools: Iterable[Tool]) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found:
            raise InputError(f"two tools are called {tool.name}")
        if tool.kind is not None and tool.kind not in KINDS_OF_TOOLS:
            raise InputError(
                f"the tool {tool.name} is of no known kind; use one of {', '.join(sorted(KINDS_OF_TOOLS))}"
            )
        found[tool.name] = tool
    return found
