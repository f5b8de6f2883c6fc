"""The sync face."""

from __future__ import annotations

import threading

import pytest
from runtime_kit import Script, adapter, calls, fault, of, quick, says, tool

from policyengine.runtime.events import ConfirmationAsked, TextChunk, TurnEnded
from policyengine.runtime.provider import ProviderError, TextDelta
from policyengine.runtime.sync import SyncSession


def test_a_turn_without_an_event_loop() -> None:
    made, _ = adapter(Script([calls(("c1", "change", {})), says("done")]))
    with SyncSession(made.session("big", tools=[tool("change", kind="edit", check=lambda a: "ask")])) as one:
        found = []
        for event in one.send("change it"):
            found.append(event)
            if isinstance(event, ConfirmationAsked):
                assert one.confirm(event.call_id, True)
        assert "".join(e.text for e in of(found, TextChunk)) == "done"
        assert of(found, TurnEnded)[0].status == "completed"
        assert len(one.messages) == 4
    assert not any(thread.name == "policyengine-session" for thread in threading.enumerate())


def test_errors_and_broken_off_reading() -> None:
    made, _ = adapter(Script([[fault("auth", 401)], says("fine"), [TextDelta("a"), 60.0]]), bundle=quick())
    with SyncSession(made.session("big")) as one:
        with pytest.raises(ProviderError):
            list(one.send("hello there"))
        assert of(list(one.retry()), TurnEnded)[0].status == "completed"
        for event in one.send("again"):
            if isinstance(event, TextChunk):
                break
        assert [m.role for m in one.messages] == ["user", "assistant", "user"]
