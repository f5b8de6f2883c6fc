"""Stopping from outside: a turn that is told to end, or whose terminal goes, ends as with Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import click

_STOPS = ("SIGTERM", "SIGHUP")


def run_stoppable(work: Coroutine[Any, Any, int]) -> int:
    """Run `work` to its end, or until a signal stops it: it then cleans up (the session is saved, records in flight are
    written), and the status is 128 and the signal's number."""
    stopped: list[signal.Signals] = []

    async def watched() -> int:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()

        def stop(number: signal.Signals) -> None:
            # The next signal ends the process as ever: cleaning up may hang.
            stopped.append(number)
            for other in _handled():
                loop.remove_signal_handler(other)
            task.cancel()

        for number in _handled():
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, stop, number)
        return await work

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if not stopped:
            raise
    click.echo(f"stopped by {stopped[0].name}", err=True)
    return 128 + stopped[0]


def _handled() -> list[signal.Signals]:
    """The signals that this system has, less those that are ignored (nohup)."""
    found = (getattr(signal, name, None) for name in _STOPS)
    return [number for number in found if number is not None and signal.getsignal(number) is not signal.SIG_IGN]
