"""Reloading a bundle: checked, tested, then swapped as a whole; a bad one is refused and the last good one goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from policyengine.kinds.bundle import Bundle, check, files
from policyengine.runtime.events import BundleRefused, Degraded, Event
from policyengine.runtime.live import Live
from policyengine.source.errors import PolicyEngineError
from policyengine.source.finding import Severity

_SHOWN = 20
"""Findings that are kept of a refused bundle."""


class Owner(Protocol):
    """Whose bundle it is: the adapter."""

    @property
    def live(self) -> Live:
        """The bundle that serves now."""
        ...

    def swap(self, bundle: Bundle) -> None:
        """Put another one in place."""
        ...

    def now_ms(self) -> int:
        """The clock, ms."""
        ...


@dataclass(frozen=True, slots=True)
class Status:
    """Which bundle serves, and what became of the last change. `stale_ms`: how long a refused change has waited."""

    live: str
    refused: str | None = None
    findings: tuple[str, ...] = ()
    stale_ms: int = 0
    too_stale: bool = False


@dataclass(frozen=True, slots=True)
class _Read:
    bundle: Bundle | None
    digest: str | None
    findings: tuple[str, ...]


class Reloader:
    """Reloads the bundle of one adapter, on demand or whenever its files change (`watch`)."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._refused: _Read | None = None
        self._refused_at_ms = 0
        self._events: list[Event] = []
        self._watching: Path | None = None
        self._seen: object = None
        self._said_stale = False

    @property
    def status(self) -> Status:
        """Both digests: of the bundle that serves, and of the one that was refused."""
        live = self._owner.live
        if self._refused is None:
            return Status(live.digest)
        stale = max(0, self._owner.now_ms() - self._refused_at_ms)
        limit = live.settings["stale_after_ms"]
        return Status(live.digest, self._refused.digest, self._refused.findings, stale, 0 < limit <= stale)

    def watch(self, path: str | Path | None = None) -> None:
        """Look between rounds whether a file of the bundle has changed, and reload it then."""
        self._watching = Path(path) if path is not None else self._owner.live.bundle.path
        self._seen = _state(self._watching)

    async def reload(self, path: str | Path | None = None) -> bool:
        """Reload from `path`, or from where the bundle came. False where it was refused."""
        live = self._owner.live
        folder = Path(path) if path is not None else live.bundle.path
        read = await asyncio.to_thread(_read, folder)
        if read.bundle is None:
            if self._refused is None:
                self._refused_at_ms = self._owner.now_ms()
            self._refused = read
            self._said_stale = False
            self._events.append(BundleRefused(live.digest, read.digest, read.findings))
            return False
        self._refused = None
        if read.bundle.digest != live.digest:
            self._owner.swap(read.bundle)
        return True

    @property
    def told(self) -> int:
        """How many events there have been; see `since`."""
        return len(self._events)

    def since(self, told: int) -> list[Event]:
        """The events after the first `told`: each session hears of all that happens while it lives."""
        return self._events[told:]

    async def between_rounds(self) -> None:
        """Called between two rounds: looks after the files where that is wanted. Never raises."""
        try:
            if self._watching is not None and (now := _state(self._watching)) != self._seen:
                self._seen = now
                await self.reload(self._watching)
        except Exception as error:
            self._events.append(Degraded("bundle", "the last good bundle goes on", type(error).__name__))
        if self._refused is not None and not self._said_stale and self.status.too_stale:
            self._said_stale = True
            self._events.append(Degraded("bundle", "the last good bundle is older than it may be", "Stale"))


def _state(path: Path) -> object:
    """What tells that a file has changed; None where the folder cannot be read."""
    try:
        return tuple((str(file), (stat := file.stat()).st_mtime_ns, stat.st_size) for file in files(path))
    except (OSError, PolicyEngineError):
        return None


def _read(folder: Path) -> _Read:
    """The bundle in a folder, checked and tested. Without a bundle, `findings` say why."""
    try:
        bundle, findings = check(folder)
        errors = tuple(f"{f.place}: {f.message}" for f in findings if f.severity is Severity.ERROR)[:_SHOWN]
        digest = bundle.digest if bundle is not None else None
        if bundle is None or errors:
            return _Read(None, digest, errors or ("nothing in it can be used",))
        failed = _failed_tests(bundle)
        if failed:
            return _Read(None, digest, failed)
        again, _ = check(folder)
        if again is None or again.digest != digest:
            return _Read(None, digest, ("the files changed while they were read; reload again",))
        # Compiled here, so that the first round under it waits for nothing.
        for policy in bundle.policies.values():
            _ = policy.compiled
        return _Read(bundle, digest, ())
    except (OSError, PolicyEngineError) as error:
        return _Read(None, None, (str(error),))


def _failed_tests(bundle: Bundle) -> tuple[str, ...]:
    """The tests that lie beside the policies and fail."""
    if not bundle.tests:
        return ()
    from policyengine.check.policy_tests import Request, run

    report = run(Request(bundle=bundle.path))
    wrong = [f"{f.place}: {f.message}" for f in report.findings if f.severity is Severity.ERROR]
    return tuple([*wrong, *(f"the test {result.case.name!r} fails" for result in report.failed)][:_SHOWN])
