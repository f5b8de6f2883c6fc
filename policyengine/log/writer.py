"""The log of a running agent: a bounded queue between the deciding thread and a thread that writes.

The deciding thread only puts a decision in the queue; building the record, masking, hashing and writing are the other
thread's work. So the input of a decision must not be changed after it was logged.
"""

from __future__ import annotations

import atexit
import logging
import os
import queue
import signal
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from policyengine.kinds.made import Made
from policyengine.kinds.policy import Policy
from policyengine.log.chain import body
from policyengine.log.record import Recorder, check_about
from policyengine.log.settings import logging_policy
from policyengine.log.sinks.sink import Item, Sink, SinkError
from policyengine.rules.decision import Decision
from policyengine.source.errors import InputError, PolicyEngineError

_say = logging.getLogger("policyengine.log")

_WAIT_STEP_S = 0.005
_CLOSE = object()


class LogError(PolicyEngineError):
    """A decision could not be recorded, and the Logging policy says to stop then."""


class Log:
    """Writes decisions of one bundle to several sinks.

    `policy` says how many records may wait, and what happens when they are too many or a sink fails; without it the
    bundle's own Logging policy, or the built-in one. What was put in is written at the end of the process, also on
    SIGTERM (where the process has no handler of its own for it).
    """

    def __init__(
        self, recorder: Recorder, sinks: Sequence[Sink], policy: Policy | None = None, *, at_exit: bool = True
    ) -> None:
        if not isinstance(recorder, Recorder):
            raise InputError(f"a Log needs a Recorder, which knows the bundle, not {type(recorder).__name__}")
        for sink in sinks:
            if not hasattr(sink, "write_many"):
                raise InputError(f"a Log writes to sinks, not to {type(sink).__name__}; open_sink(path) makes one")
        self._recorder, self._sinks = recorder, list(sinks)
        self._policy = policy or logging_policy()
        settings = self._policy.spec
        self._limit: int = settings["queue_records"]
        self._batch: int = settings["batch_records"]
        self._close_s: float = settings["close_seconds"]
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stopped: str | None = None
        self._closed = False
        self._lost_before = 0
        self._lost_lock = threading.Lock()
        self._warned: set[str] = set()
        self.dropped = 0
        """Records lost so far, in any sink."""
        self.failure: str | None = None
        """What the last loss came of: the system's name of an error (`ENOSPC`), or `queue_full`, `build`, `write`."""
        self.written = 0
        """Records that every sink has taken or lost; put in order, so the first `written` ones are done."""
        self._thread = threading.Thread(target=self._run, name="policyengine-log", daemon=True)
        self._thread.start()
        if at_exit:
            _close_at_exit(self)

    def decided(
        self, made: Made, *, recorder: Recorder | None = None, time_ms: int | None = None, **about: Any
    ) -> None:
        """Log a decision that was made. `about` holds further fields of its record (session_id, round, ...).

        `time_ms` is the Unix time of the decision, where that is not now; `recorder` is that of another bundle, where
        the agent has changed to one. Costs the caller a microsecond or two. The input must not be changed afterwards.
        Raises `InputError` for what is no `Made`, and for a field that a record does not have or of another type;
        `LogError` where the policy says to stop.
        """
        given: object = made
        if not isinstance(given, Made):
            wrong = "a Made (policy, input, decision); `decide(policy, input)` decides and logs at once"
            raise InputError(f"a log takes {wrong}, a {type(given).__name__} does not say what was decided on")
        check_about(about)
        if time_ms is not None:
            about["time_ms"] = time_ms
        self._put((recorder or self._recorder, made, about, time.time_ns(), time.monotonic_ns()))

    def decide(self, policy: Policy, input: Mapping[str, Any], *, trace: bool = False, **about: Any) -> Decision:
        """Decide, log it, and return the decision: the same as `policy.decide(input)`, recorded.

        `about` and what is raised are as in `decided`.
        """
        if not isinstance(policy, Policy):
            raise InputError(f"a policy of a bundle decides (bundle.policy(NAME)), not a {type(policy).__name__}")
        decision = policy.decide(input, trace)
        self.decided(Made(policy, input, decision), **about)
        return decision

    def write(self, record: Mapping[str, Any]) -> None:
        """Log a record that is already built. Raises `LogError` where the policy says to stop, `InputError` for what is
        no record."""
        if not isinstance(record, Mapping):
            raise InputError(f"a record is a mapping, not a {type(record).__name__}")
        self._put(record)

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until everything put in so far is written (or lost and counted); False where time ran out."""
        if self._closed:
            return True
        done = threading.Event()
        self._queue.put(done.set)
        return done.wait(timeout_s)

    def when_written(self, done: Callable[[], object]) -> None:
        """Have `done` called, by the writing thread, once everything put in so far is written (or lost and counted)."""
        if self._closed:
            done()
        else:
            self._queue.put(done)

    def check(self) -> None:
        """Raise `LogError` where a record was lost and the policy says to stop then."""
        if self._stopped is not None:
            raise LogError(self._stopped)

    def close(self) -> None:
        """Write what waits, for as long as the policy allows, and close the sinks. Calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        _open_logs.discard(self)
        self._queue.put(_CLOSE)
        self._thread.join(self._close_s)
        if self._thread.is_alive():
            left = self._queue.qsize()
            self.dropped += left
            self._warn("close", f"the log was closed before everything was written; records lost: {left}")
        elif self.dropped:
            self._warn("dropped", f"records lost: {self.dropped}")

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The deciding thread

    def _put(self, item: Any) -> None:
        self.check()
        if self._closed:
            raise InputError("the log is closed")
        if self._queue.qsize() >= self._limit and not self._room():
            return
        self._queue.put(item)

    def _room(self) -> bool:
        """Ask the policy what to do about a full queue; False where this record is lost."""
        started = time.monotonic()
        while self._queue.qsize() >= self._limit:
            waited = int((time.monotonic() - started) * 1000)
            action = self._ask("queue_full", waited_ms=waited)
            if action == "stop":
                self._stopped = f"the log cannot keep up; records that wait: {self._limit}"
                raise LogError(self._stopped)
            if action == "drop":
                with self._lost_lock:
                    self._lost_before += 1
                    self._count_lost(1, "queue_full")
                self._warn("queue_full", "the log cannot keep up; records are dropped and counted")
                return False
            time.sleep(_WAIT_STEP_S)
        return True

    def _ask(self, event: str, **about: Any) -> str:
        given = {"event": event, "sink": None, "error": None, "dropped": self.dropped, "waited_ms": 0, **about}
        action: str = self._policy.outcome(given)["action"]
        return action

    def _count_lost(self, records: int, failure: str) -> None:
        self.failure = failure
        self.dropped += records

    def _warn(self, about: str, message: str) -> None:
        """Say it once; the counter says how often."""
        if about not in self._warned:
            self._warned.add(about)
            _say.warning("%s", message)

    # The writing thread

    def _run(self) -> None:
        open_ = True
        while open_:
            taken = [self._queue.get()]
            while len(taken) < self._batch:
                try:
                    taken.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            waiting: list[Callable[[], object]] = []
            items: list[Item] = []
            for one in taken:
                if one is _CLOSE:
                    open_ = False
                elif callable(one):
                    waiting.append(one)
                else:
                    self._build(one, items)
            self._write(items)
            for done in waiting:
                with suppress(Exception):  # who asked may be gone
                    done()
        for sink in self._sinks:
            try:
                sink.close()
            except (SinkError, PolicyEngineError) as error:
                self._warn("close", str(error))

    def _build(self, one: Any, items: list[Item]) -> None:
        try:
            if isinstance(one, Mapping):
                record: Mapping[str, Any] = one
            else:
                recorder, made, about, wall, monotonic = one
                about = {"time_ms": wall // 1_000_000, "monotonic_ms": monotonic // 1_000_000, **about}
                record = recorder.record(made, **about)
            items.append(Item(record, body(record)))
        except Exception as error:
            # A record that cannot be built must not end the thread that writes all others. The error's text may
            # repeat a value, so that only its kind is said.
            with self._lost_lock:
                self._lost_before += 1
                self._count_lost(1, "build")
            text = str(error) if isinstance(error, InputError) else type(error).__name__
            self._warn("build", f"a record could not be built: {text}")

    def _write(self, items: Sequence[Item]) -> None:
        with self._lost_lock:
            lost, self._lost_before = self._lost_before, 0
        for sink in self._sinks:
            if lost:
                sink.lost(lost)
            if not items:
                continue
            try:
                sink.write_many(items)
            except SinkError as error:
                self._failed(sink, error, len(items) - error.written)
            except Exception as error:  # a sink of somebody else's: it must not end the writing thread
                self._failed(sink, SinkError(f"{sink.kind}: {type(error).__name__}"), len(items))
        self.written += len(items)

    def _failed(self, sink: Sink, error: SinkError, lost: int) -> None:
        sink.lost(lost)
        with self._lost_lock:
            self._count_lost(lost, error.code or "write")
        known = sink.kind if sink.kind in ("jsonl", "sqlite", "otel") else None
        if self._ask("write_failed", sink=known, error=error.code) == "stop":
            self._stopped = str(error)
        self._warn(f"write {sink.kind}", f"{error}; records are dropped and counted")


_open_logs: weakref.WeakSet[Log] = weakref.WeakSet()
_installed = False


def _close_at_exit(log: Log) -> None:
    """Have the log written at the end of the process; SIGTERM counts as one where nobody else handles it."""
    global _installed
    _open_logs.add(log)
    if _installed:
        return
    _installed = True
    atexit.register(_close_all)
    os.register_at_fork(after_in_child=_forget)
    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _close_all() -> None:
    for log in list(_open_logs):
        log.close()


def _terminated(number: int, _: FrameType | None) -> None:
    _close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _forget() -> None:
    """In a forked child the writing thread does not exist; its parent writes what was put in."""
    for log in list(_open_logs):
        log._closed = True
    _open_logs.clear()
