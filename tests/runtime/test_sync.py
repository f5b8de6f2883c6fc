"""The sync face."""

from __future__ import annotations

import inspect
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from runtime_kit import Script, adapter, calls, fault, of, quick, says, tool

from policyengine.runtime.events import ConfirmationAsked, TextChunk, TurnEnded
from policyengine.runtime.provider import ProviderError, TextDelta
from policyengine.runtime.session import Session
from policyengine.runtime.sync import SyncSession
from policyengine.source.errors import InputError


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


def test_it_has_every_member_of_the_session_with_the_same_parameters() -> None:
    made, _ = adapter(Script([]))
    one = made.session("big")
    with SyncSession(one) as sync:
        members = {name for name in dir(one) if not name.startswith("_")}
        assert members == {name for name in dir(sync) if not name.startswith("_")} - {"session"}
        for name in sorted(members):
            theirs, own = inspect.getattr_static(Session, name, None), inspect.getattr_static(SyncSession, name, None)
            if inspect.isfunction(theirs):
                assert inspect.isfunction(own), name
                assert inspect.signature(own).parameters == inspect.signature(theirs).parameters, name
            else:
                assert getattr(sync, name) == getattr(one, name), name
            assert own.__doc__, name


def test_what_is_done_beside_turns() -> None:
    script = Script([says("hello"), says("hello again"), says("a summary of it all"), says("a label")])
    made, _ = adapter(script, bundle=quick())
    with SyncSession(made.session("big", fast="small", fast_routing=True, window=100_000)) as one:
        list(one.send("hi", turn_kind="cron"))
        list(one.send("hi"))
        assert set(one.usage) == {"big"}
        assert one.compact().result
        assert one.helper("label this") is None or one.usage["small"]
        one.switch_model("third", window=50_000)
        with pytest.raises(InputError):
            one.switch_model("")
        one.clear()
        assert one.messages == ()
        assert (one.state, one.accepts_message) == ("idle", True)


def test_saving_and_reading_after_it_was_closed(tmp_path: Path) -> None:
    made, _ = adapter(Script([says("hello")]))
    one = SyncSession(made.session("big"))
    list(one.send("hi"))
    one.close()
    one.close()
    one.save(tmp_path / "session.jsonl")
    assert (tmp_path / "session.jsonl").exists()
    assert set(one.usage) == {"big"}
    with pytest.raises(InputError, match="closed"):
        list(one.send("hi"))
    with pytest.raises(InputError, match="closed"):
        one.compact()


def test_waiting_within_its_own_loop_is_refused_and_not_a_deadlock() -> None:
    made, _ = adapter(Script([calls(("c1", "look", {})), says("done")]))
    found: list[object] = []

    async def look(arguments: object) -> str:
        found.append(one.usage)
        with pytest.raises(InputError, match="own loop"):
            one.compact()
        return "seen"

    with SyncSession(made.session("big", tools=[replace(tool("look"), run=look)], always_summarize=True)) as one:
        list(one.send("look at it"))
    assert len(found) == 1


@pytest.mark.parametrize("wrong", [None, "big", SyncSession])
def test_what_is_no_session_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="session is a Session"):
        SyncSession(wrong)  # type: ignore[arg-type]
