"""The adapter: a bundle, providers, a state store and a log, and the sessions that run under them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from policyengine.kinds.bundle import Bundle, load
from policyengine.runtime.clock import Clock
from policyengine.runtime.core import Core, Settings
from policyengine.runtime.deciding import Deciding
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
from policyengine.runtime.stated import has, stated, stated_as, stated_text, stated_tokens
from policyengine.runtime.summarizer import PlainSummarizer, Summarizer
from policyengine.runtime.switches import Switches
from policyengine.runtime.tools import Tool
from policyengine.runtime.tracing import NoTracing, SafeTracing, Tracing
from policyengine.runtime.transcript import Transcript
from policyengine.runtime.voice import Voice
from policyengine.source.errors import InputError

T = TypeVar("T")


class Adapter:
    """Runs agent loops under a bundle.

    - `bundle`: a loaded bundle, a folder, or None for the built-in one. A folder can be reloaded (`reload`).
    - `providers`: by their name in the model catalogue, or one after the other.
    - `store`: where breaker, kill switch and rollout stage live; None keeps them in memory. A store that fails never
      stops a turn.
    - `log`: takes decisions: a `Log`, or a sink or the path of a file, which gets a `Log` of its own in front of it
      (closed with the adapter; SQLite by the suffix of the path, JSONL otherwise). Records are built and written in the
      log's thread. None writes none.
    - `scope`: sessions, adapters and processes with the same scope and store share one kill switch, one rollout stage,
      and, with `shared_breaker`, one breaker.
    - `shadow`: a candidate bundle that decides beside the live one, is logged, and never acts.
    - `clock`: gives Unix time in ms; None takes the machine's.

    Raises `InputError` for what is none of this, and where the bundle or the log's file cannot be used, `BundleError`
    where something in the bundle is wrong.
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
        _checked(bundle, store, hooks, summarizer, tracing, shadow, scope, shared_breaker, clock)
        self.providers = _named(providers)
        loaded = bundle if isinstance(bundle, Bundle) else load(bundle)
        self._live = Live(loaded, shadow=shadow)
        self._store = MemoryStore() if store is None else store
        self._log, self._own_log = as_log(log, self._live.recorder, self._live.policy("Logging"))
        self._hooks = hooks or Hooks()
        self._summarizer = summarizer or PlainSummarizer()
        self._tracing = tracing or NoTracing()
        self._scope, self._shared_breaker = scope, shared_breaker
        self.rollout = Rollout(self._store, scope)
        """Stage and kill switch of this scope: what `policyengine gate rollout --state` decides, or a person."""
        self._now = clock or Clock().now_ms
        self.reloader = Reloader(self)
        """Reloads the bundle's files: `watch`, `status`."""

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
        """Put another bundle in place, as a whole; running rounds end under the old one. Raises `InputError`."""
        stated_as(bundle, "bundle", "a Bundle, as `load` gives it", Bundle)
        self._live = Live(bundle, shadow=self._live.shadow)

    def shadow(self, bundle: Bundle | None) -> None:
        """Let a candidate decide beside the live bundle from now on; None ends it. Raises `InputError`."""
        stated_as(bundle, "shadow", "a Bundle, as `load` gives it", Bundle, optional=True)
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

        Raises `InputError` for an option that the policies or their inputs do not know, a window that is no number of
        tokens, and a model that no provider serves.
        """
        settings = _settings(
            primary=primary,
            fast=fast,
            system=system,
            memory=memory,
            window=window,
            fast_window=fast_window,
            max_output=max_output,
            fast_max_output=fast_max_output,
            strategy=strategy,
            always_summarize=always_summarize,
            fast_routing=fast_routing,
            strict_template=strict_template,
        )
        name = uuid.uuid4().hex if session_id is None else stated_text(session_id, "session_id", empty=False)
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
        strict_template: bool = False,
        mirrors: Iterable[Place] = (),
        summarizer: Summarizer | None = None,
    ) -> Session:
        """Take up a saved session. What is not valid in its history is repaired, and the first event says so.

        No count of tokens is known then: the first send is measured from the history's size. Options and errors are
        those of `session`; `InputError` also where the file cannot be read.
        """
        settings = _settings(
            primary=primary,
            fast=fast,
            system=system,
            memory=memory,
            window=window,
            fast_window=fast_window,
            max_output=max_output,
            fast_max_output=fast_max_output,
            fast_routing=fast_routing,
            strategy=strategy,
            always_summarize=always_summarize,
            strict_template=strict_template,
        )
        transcript = Transcript.load(stated_as(path, "path", "the path of a saved session", (str, Path)))
        provider = self._live.loop.model(primary)["provider"] or next(iter(self.providers))
        repair = self._live.policy("HistoryRepair").outcome({"provider": provider, "strict_template": strict_template})
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
        mirrors = _list(mirrors, "mirrors", "an object with `add`, `commit` and `discard`", _IS_PLACE)
        stated_as(summarizer, "summarizer", "an object with `summarize`", has("summarize"), optional=True)
        numbers = self._live.settings
        voice = Voice()
        say = voice.say
        for event in said:
            say(event)
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
        advisor = Deciding(
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
        for model in (settings.primary, settings.fast):
            if model is not None and not core.serves(model):
                core.provider_of(model)

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
        return Session(core, summarizer or self._summarizer, switches, between_rounds, display, recording, voice)


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


def _settings(
    primary: str,
    *,
    fast: str | None,
    window: int | None,
    fast_window: int | None,
    max_output: int | None,
    fast_max_output: int | None,
    system: str,
    memory: str,
    strategy: str,
    always_summarize: bool,
    fast_routing: bool | None,
    strict_template: bool,
) -> Settings:
    """The options of a session, checked. Raises `InputError`."""
    stated_text(primary, "primary", empty=False)
    if fast is not None:
        stated_text(fast, "fast", empty=False)
    return Settings(
        primary=primary,
        fast=fast,
        system=stated_text(system, "system"),
        memory=stated_text(memory, "memory"),
        windows=_stated("window", primary, window, fast, fast_window),
        max_outputs=_stated("max_output", primary, max_output, fast, fast_max_output),
        strategy=stated(strategy, "strategy", "routing"),
        always_summarize=stated(always_summarize, "always_summarize", "directives"),
        fast_routing=stated(fast_routing, "fast_routing", "fast-access", "asked"),
        strict_template=stated(strict_template, "strict_template", "history-repair"),
    )


def _checked(
    bundle: object,
    store: object,
    hooks: object,
    summarizer: object,
    tracing: object,
    shadow: object,
    scope: str,
    shared_breaker: object,
    clock: object,
) -> None:
    """Raise `InputError` where an adapter gets something that is not what it takes."""
    stated_as(bundle, "bundle", "a Bundle, a folder, or None", (Bundle, str, Path), optional=True)
    stated_as(store, "store", "a state store: MemoryStore, SqliteStore, RedisStore", _IS_STORE, optional=True)
    stated_as(hooks, "hooks", "a Hooks", Hooks, optional=True)
    stated_as(summarizer, "summarizer", "an object with `summarize`", has("summarize"), optional=True)
    stated_as(tracing, "tracing", "an object with `start`, such as OtelTracing()", has("start"), optional=True)
    stated_as(shadow, "shadow", "a Bundle, as `load` gives it", Bundle, optional=True)
    stated_text(scope, "scope", empty=False)
    stated_as(shared_breaker, "shared_breaker", "true or false", bool)
    stated_as(clock, "clock", "a function that gives Unix time in ms", callable, optional=True)


_IS_STORE = has("get", "update", "close")
_IS_PLACE = has("add", "commit", "discard")
_IS_PROVIDER = has("stream", "close")
_PROVIDERS = "a list of providers, or a mapping from names in the model catalogue to providers"


def _named(providers: Mapping[str, Provider] | Sequence[Provider]) -> dict[str, Provider]:
    """Providers by name. Raises `InputError`."""
    if _IS_PROVIDER(providers):
        raise InputError(f"providers is {_PROVIDERS}; write [{getattr(providers, 'name', 'provider')}]")
    stated_as(providers, "providers", _PROVIDERS, Iterable)
    named = list(providers.items() if isinstance(providers, Mapping) else ((None, one) for one in providers))
    found: dict[str, Provider] = {}
    for name, one in named:
        stated_as(one, "each of the providers", "an object with `name`, `stream` and `close`", _IS_PROVIDER)
        own: Any = getattr(one, "name", None) if name is None else name
        name = stated_text(own, "the name of a provider", empty=False)
        if name in found:
            raise InputError(f"two providers are called {name}; give them names: {{'NAME': provider, ...}}")
        found[name] = one
    if not found:
        raise InputError("an adapter needs a provider")
    return found


def _list(values: Iterable[T], name: str, each: str, fits: type | Callable[[Any], bool]) -> list[T]:
    """A list of things of one kind. Raises `InputError`."""
    found = list(stated_as(values, name, "a list", Iterable))
    for at, value in enumerate(found):
        stated_as(value, f"{name}[{at}]", each, fits)
    return found


def _registered(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Tools by name. Raises `InputError`."""
    found: dict[str, Tool] = {}
    for tool in _list(tools, "tools", "a Tool", Tool):
        if tool.name in found:
            raise InputError(f"two tools are called {tool.name}")
        found[tool.name] = tool
    return found
