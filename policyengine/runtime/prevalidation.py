"""Checks of tool calls that start while the stream still runs, and are thrown away with it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policyengine.runtime.messages import Call
from policyengine.runtime.tools import Permission, Tool

Fingerprint: TypeAlias = "tuple[int, int, str]"
"""Time (ns), size and content hash of a file."""


@dataclass(slots=True)
class _Early:
    task: asyncio.Task[Permission]
    name: str
    arguments: Mapping[str, Any]
    fingerprint: Fingerprint | None


class Prevalidation:
    """Early checks of one round, by call id."""

    def __init__(
        self,
        ask: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
        kind_of: Callable[[Tool, Call], tuple[str, bool]],
        on_error: Callable[[str], None] = lambda error: None,
    ) -> None:
        self._ask, self._kind_of, self._on_error = ask, kind_of, on_error
        self._early: dict[str, _Early] = {}
        self.used = 0
        """Checks whose early answer was taken."""

    @property
    def running(self) -> int:
        """Checks that run now."""
        return sum(1 for early in self._early.values() if not early.task.done())

    def seen(self, call: Call, tool: Tool | None) -> None:
        """A call stands in the stream: its check starts where the policy allows it. Never raises."""
        if tool is None or tool.check is None or call.raw_arguments is not None or call.id in self._early:
            return
        try:
            kind, mcp = self._kind_of(tool, call)
            print_ = fingerprint(tool, call.arguments) if kind == "edit" else None
            given = {"kind": kind, "mcp": mcp, "running": self.running, "fingerprint": print_ is not None}
            if not self._ask("Prevalidation", given)["start"]:
                return
            task = asyncio.ensure_future(check(tool, call.arguments))
            # An early check that fails is no news: the ordinary one follows.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._early[call.id] = _Early(task, call.name, call.arguments, print_)
        except Exception as error:
            self._on_error(type(error).__name__)

    async def permission(self, call: Call, tool: Tool) -> Permission:
        """May the call run? The early answer where there is a sound one; otherwise the ordinary check."""
        early = self._early.pop(call.id, None)
        if early is not None:
            if self._sound(early, call, tool):
                self.used += 1
                return early.task.result()
            early.task.cancel()
        if tool.check is None:
            return "allow"
        return await check(tool, call.arguments)

    def cancel(self) -> None:
        """The stream is gone: so are its checks."""
        for early in self._early.values():
            early.task.cancel()
        self._early.clear()

    def _sound(self, early: _Early, call: Call, tool: Tool) -> bool:
        if not early.task.done() or early.task.cancelled() or early.task.exception() is not None:
            return False
        if (early.name, early.arguments) != (call.name, call.arguments):
            return False
        # The file may have changed between the check and now.
        return early.fingerprint is None or early.fingerprint == fingerprint(tool, call.arguments)


async def check(tool: Tool, arguments: Mapping[str, Any]) -> Permission:
    """A tool's own check."""
    if tool.check is None:
        return "allow"
    given = tool.check(arguments)
    return await given if inspect.isawaitable(given) else given


def fingerprint(tool: Tool, arguments: Mapping[str, Any]) -> Fingerprint | None:
    """What the file that a call would change looks like now; None where that cannot be told."""
    path = tool.target(arguments) if tool.target is not None else None
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            return state.st_mtime_ns, state.st_size, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
