"""Checks that start while the stream still runs: which, how many, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, Step, adapter, calls, changed, events, of, quick, says, tool

from policyengine.runtime.events import ConfirmationAsked, ToolEnded, TurnEnded
from policyengine.runtime.messages import Call
from policyengine.runtime.prevalidation import Prevalidation
from policyengine.runtime.provider import CallFinished, Finished


class Checks:
    """A tool's check that notes when it ran."""

    def __init__(self, answer: Any = "allow", wait: float = 0.0) -> None:
        self.answer, self.wait = answer, wait
        self.started: list[Any] = []
        self.cancelled = 0

    async def __call__(self, arguments: Any) -> Any:
        self.started.append(arguments)
        try:
            await asyncio.sleep(self.wait)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def _stream(at_end: Any, *wanted: str) -> list[Step]:
    """Calls, then a pause in which early checks can run, then what notes how many did, then the end."""
    steps: list[Step] = [CallFinished(i, f"c{i}", name, json.dumps({"what": str(i)})) for i, name in enumerate(wanted)]
    return [*steps, 0.02, at_end, Finished("tool_calls", "tool_calls")]


KINDS = [
    ("read", True), ("search", True), ("fetch", True), ("edit", False), ("delete", False), ("move", False),
    ("execute", False), ("think", False), ("other", False),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "early"), KINDS)
def test_only_kinds_on_the_allowlist_are_checked_ahead(kind: str, early: bool) -> None:
    check = Checks()
    before_end: list[int] = []
    script = Script([_stream(lambda: before_end.append(len(check.started)), "look"), says("ok")])
    made, _ = adapter(script)
    one = made.session("big", tools=[tool(kind=kind, check=check)])
    found = asyncio.run(events(one.send("show me")))
    assert before_end == [1 if early else 0]
    # Each call is checked once either way.
    assert len(check.started) == 1
    assert of(found, TurnEnded)[0].status == "completed"


def test_third_party_tools_are_never_checked_ahead() -> None:
    check = Checks()
    before_end: list[int] = []
    script = Script([_stream(lambda: before_end.append(len(check.started)), "look"), says("ok")])
    made, _ = adapter(script)
    asyncio.run(events(made.session("big", tools=[tool(mcp=True, check=check)]).send("show me")))
    assert before_end == [0]


def test_at_most_ten_at_once() -> None:
    check = Checks(wait=0.05)
    before_end: list[int] = []
    script = Script([_stream(lambda: before_end.append(len(check.started)), *["look"] * 15), says("ok")])
    made, _ = adapter(script)
    found = asyncio.run(events(made.session("big", tools=[tool(check=check)]).send("show me")))
    assert before_end == [10]
    assert len(of(found, ToolEnded)) == 15


def test_a_failed_or_late_check_falls_back_to_the_ordinary_one() -> None:
    for check in (Checks(ValueError("x")), Checks(wait=0.1)):
        script = Script([_stream(lambda: None, "look"), says("ok")])
        made, _ = adapter(script, bundle=quick())
        one = made.session("big", tools=[tool(check=check)])

        async def run(one: Any = one) -> list[Any]:
            found: list[Any] = []
            async for event in one.send("show me"):
                found.append(event)
                if isinstance(event, ConfirmationAsked):
                    # A check that fails twice: the person is asked.
                    one.confirm(event.call_id, True)
            return found

        found = asyncio.run(run())
        assert len(check.started) == 2
        assert [e.error for e in of(found, ToolEnded)] == [False]


def test_checks_are_cancelled_with_their_stream() -> None:
    check = Checks(wait=5)
    steps: list[Step] = [CallFinished(0, "c0", "look", "{}"), 0.02]
    script = Script([steps, says("ok")])
    made, _ = adapter(script, bundle=quick())
    asyncio.run(events(made.session("big", tools=[tool(check=check)]).send("show me")))
    assert (len(check.started), check.cancelled) == (1, 1)


@pytest.mark.parametrize("touched", [False, True])
def test_an_edit_may_be_checked_ahead_where_its_file_is_compared_again(touched: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")
    check = Checks()

    def end() -> None:
        if touched:
            file.write_text("after!")

    script = Script([_stream(end, "change"), says("ok")])
    made, _ = adapter(script, bundle=changed(prevalidation={"edit_with_fingerprint": True}))
    change = tool("change", kind="edit", check=check, target=lambda arguments: str(file))
    asyncio.run(events(made.session("big", tools=[change]).send("change it")))
    assert len(check.started) == (2 if touched else 1)


def test_the_cache_key_is_the_call() -> None:
    async def run() -> None:
        check = Checks()
        one = tool(check=check)
        early = Prevalidation(lambda kind, given: {"start": True}, lambda tool, call: ("read", False))
        early.seen(Call("c1", "look", {"what": "a"}), one)
        early.seen(Call("c1", "look", {"what": "a"}), one)
        await asyncio.sleep(0.01)
        assert len(check.started) == 1
        # The same id with other arguments is another call.
        assert await early.permission(Call("c1", "look", {"what": "b"}), one) == "allow"
        assert len(check.started) == 2
        assert early.used == 0

    asyncio.run(run())


def test_calls_without_a_check_just_run() -> None:
    made, _ = adapter(Script([calls(("c1", "look", {})), says("ok")]))
    found = asyncio.run(events(made.session("big", tools=[tool()]).send("show me")))
    assert [e.error for e in of(found, ToolEnded)] == [False]
