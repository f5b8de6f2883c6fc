"""What a programmer gives the adapter, a session, a tool and the advisor is checked at once, in one line."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runtime_kit import Script, adapter, builtin, quick, says, tool

from policyengine.kinds.batch import Batch, BatchCall
from policyengine.kinds.before_send import LoopState
from policyengine.kinds.bundle import load
from policyengine.kinds.prompt_size import Count, Sizes
from policyengine.runtime.adapter import Adapter
from policyengine.runtime.advisor import Advisor
from policyengine.runtime.events import Degraded, Event
from policyengine.runtime.hooks import Hooks
from policyengine.runtime.messages import Text
from policyengine.runtime.provider import Provider
from policyengine.runtime.providers.script import Script as PlayedScript
from policyengine.runtime.providers.scripted import Scripted
from policyengine.runtime.rollout import Rollout
from policyengine.runtime.session import Session
from policyengine.runtime.state.opening import open_store, store_timeout_s
from policyengine.runtime.state.redis import RedisStore
from policyengine.runtime.state.sqlite import SqliteStore
from policyengine.runtime.tools import Tool, ToolOutput
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder

PLAYED = """
apiVersion: policyengine/v1
kind: Script
streams:
  - times: always
    events: [{text: hello}, {finish: stop}]
"""


def scripted(name: str = "scripted") -> Provider:
    return Scripted(PlayedScript.parse(PLAYED), name=name)


def refused(make: Callable[[], object]) -> str:
    with pytest.raises(InputError) as raised:
        make()
    assert "\n" not in str(raised.value)
    return str(raised.value)


ADAPTERS: dict[str, tuple[Callable[[], object], str]] = {
    "a provider alone": (lambda: Adapter(None, scripted()), "providers is a list of providers, or a mapping"),  # type: ignore[arg-type]
    "the class of a provider": (lambda: Adapter(None, [Scripted]), "`stream` and `close`, not the class Scripted"),  # type: ignore[list-item]
    "no provider": (lambda: Adapter(None, []), "an adapter needs a provider"),
    "nothing": (lambda: Adapter(None, None), "providers is a list of providers"),  # type: ignore[arg-type]
    "two of one name": (lambda: Adapter(None, [scripted(), scripted()]), "two providers are called scripted"),
    "another bundle": (lambda: Adapter(5, [scripted()]), "bundle is a Bundle, a folder, or None, not an int"),  # type: ignore[arg-type]
    "a path as a store": (lambda: Adapter(None, [scripted()], "state.db"), "store is a state store"),  # type: ignore[arg-type]
    "a number as a log": (lambda: Adapter(None, [scripted()], log=5), "log is a Log, a sink"),  # type: ignore[arg-type]
    "the class of a sink": (lambda: Adapter(None, [scripted()], log=Path), "log is a Log, a sink"),  # type: ignore[arg-type]
    "a folder that is not there": (lambda: Adapter(None, [scripted()], log="no/such/log.jsonl"), "cannot be written"),
    "an empty scope": (lambda: Adapter(None, [scripted()], scope=""), "scope is a text, not an empty one"),
    "hooks": (lambda: Adapter(None, [scripted()], hooks=print), "hooks is a Hooks"),  # type: ignore[arg-type]
    "a clock": (lambda: Adapter(None, [scripted()], clock=5), "clock is a function"),  # type: ignore[arg-type]
    "a shadow": (lambda: Adapter(None, [scripted()], shadow="x"), "shadow is a Bundle"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_takes_what_it_takes(name: str) -> None:
    make, message = ADAPTERS[name]
    assert message in refused(make)


SESSIONS: dict[str, tuple[dict[str, Any], str]] = {
    "strategy": ({"strategy": "always_primry"}, "did you mean `always_primary`?"),
    "fast_routing": ({"fast_routing": "yes"}, "expected true or false or null"),
    "always_summarize": ({"always_summarize": 1}, "`always_summarize` is 1; expected true or false"),
    "strict_template": ({"strict_template": None}, "`strict_template` is null; expected true or false"),
    "window": ({"window": -5}, "window is a whole number of tokens"),
    "fast_window": ({"fast": "small", "fast_window": 1.5}, "fast_window is a whole number of tokens"),
    "fast": ({"fast": ""}, "fast is a text, not an empty one"),
    "system": ({"system": None}, "system is a text, not None"),
    "memory": ({"memory": 5}, "memory is a text, not an int"),
    "tools": ({"tools": [print]}, "tools[0] is a Tool"),
    "one tool": ({"tools": tool("look")}, "tools is a list, not a Tool"),
    "mirrors": ({"mirrors": [print]}, "mirrors[0] is an object with `add`"),
    "summarizer": ({"summarizer": print}, "summarizer is an object with `summarize`"),
    "session_id": ({"session_id": ""}, "session_id is a text, not an empty one"),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_takes_what_the_policies_know(name: str) -> None:
    made, _ = adapter(Script([]))
    options, message = SESSIONS[name]
    assert message in refused(lambda: made.session("big", **options))


@pytest.mark.parametrize("model", ["", None, 5])
def test_a_model_is_a_name(model: Any) -> None:
    made, _ = adapter(Script([]))
    assert "primary is a text" in refused(lambda: made.session(model))


def test_a_fast_model_that_nobody_serves_is_refused_before_the_first_turn() -> None:
    made = Adapter(None, {"one": scripted("one"), "other": scripted("other")})
    assert "no provider for the model nobody" in refused(lambda: made.session("nobody"))
    named = Adapter(quick(), {"openai": scripted("openai"), "other": scripted("other")})
    known = next(one["id"] for one in quick().serving("ModelCatalogue").spec["models"] if one["provider"] == "openai")
    assert "no provider for the model nobody" in refused(lambda: named.session(known, fast="nobody"))


SENDS: dict[str, tuple[Callable[[Session], object], str]] = {
    "turn_kind": (lambda one: one.send("hi", turn_kind="crn"), "did you mean `cron`?"),
    "an empty model": (lambda one: one.send("hi", model=""), "model is a text"),
    "no text": (lambda one: one.send(5), "a message is a text, or a list of texts and images"),  # type: ignore[arg-type]
    "bytes": (lambda one: one.send(b"hi"), "a message is a text, or a list of texts and images"),  # type: ignore[arg-type]
    "another model": (lambda one: one.switch_model(""), "model is a text"),
    "another window": (lambda one: one.switch_model("third", window=-1), "window is a whole number of tokens"),
    "a helper's cap": (lambda one: asyncio.run(one.helper("hi", max_output_tokens=-1)), "max_output_tokens is"),  # type: ignore[arg-type]
    "a helper's prompt": (lambda one: asyncio.run(one.helper("")), "prompt is a text, not an empty one"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", SENDS)
def test_a_session_refuses_at_the_call(name: str) -> None:
    made, _ = adapter(Script([]))
    call, message = SENDS[name]
    assert message in refused(lambda: call(made.session("big")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": ""}, "the name of a tool is a text"),
        ({"description": None}, "the description of the tool look is a text, not None"),
        ({"run": "ls"}, "`run` of the tool look is a function"),
        ({"check": True}, "`check` of the tool look is a function"),
        ({"kind": "raed"}, "did you mean `read`?"),
        ({"mcp": "yes"}, "`mcp` is"),
    ],
)
def test_a_tool_is_checked_when_it_is_made(options: dict[str, Any], message: str) -> None:
    whole = {"name": "look", "description": "Looks.", "parameters": {"type": "object"}, "run": print}
    assert message in refused(lambda: Tool(**{**whole, **options}))


CALLS = [BatchCall("Read", "read", "read_file")]
BATCHES: dict[str, tuple[dict[str, Any], str]] = {
    "a call without its kind": ({"calls": [{"name": "Read"}]}, "`calls[0]` has no kind"),
    "a call without its name": ({"calls": [*CALLS, {"kind": "read"}]}, "`calls[1]` has no name"),
    "a kind that is none": ({"calls": [BatchCall("Read", "raed")]}, "`calls[0].kind`: expected one of `read`, "),
    "a key that is none": ({"calls": [{"name": "Read", "kind": "read", "eror": True}]}, "did you mean `error`?"),
    "an error that is a text": ({"calls": [BatchCall("Read", "read", error="no")]}, "`calls[0].error`: expected true"),
    "a call that is none": ({"calls": ["Read"]}, "calls[0] is a BatchCall, not a str"),
    "no list": ({"calls": CALLS[0]}, "calls is a list of BatchCall"),
    "a turn kind": ({"turn_kind": "crn"}, "`turn_kind`: expected one of `interactive`, "),
    "a strategy": ({"strategy": "fast"}, "`strategy`: expected one of `auto`, "),
    "a number": ({"distinct_calls": -1}, "`distinct_calls`: expected at least 0"),
    "no prompt": ({"prompt": None}, "`prompt`: expected text"),
    "a size": ({"tool_output": 5}, "tool_output is a Sizes, not an int"),
    "a size below 0": ({"tool_output": Sizes(text_bytes=-1)}, "`added.text_bytes`: expected at least 0"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_says_what_is_missing_or_wrong_and_nothing_that_is_in_it(name: str) -> None:
    advisor = Advisor(quick())
    options, message = BATCHES[name]
    batch = Batch(**{"calls": CALLS, "prompt": "a secret prompt", **options})
    said = refused(lambda: advisor.after_batch(batch, history_tokens=1000, fast_auto=None))
    assert message in said
    assert "secret" not in said
    assert "secret" not in repr(batch)


def test_a_batch_of_mappings_is_as_good_and_one_of_any_length_is_decided() -> None:
    said: list[Event] = []
    advisor = Advisor(quick(), say=said.append)
    mapping = Batch(calls=[{"name": "Read", "kind": "read", "tool": "read_file"}], prompt="what is in it?")  # type: ignore[list-item]
    typed = Batch(calls=CALLS, prompt="what is in it?")
    one, other = (advisor.after_batch(batch, history_tokens=1000, fast_auto=160_000) for batch in (mapping, typed))
    assert one.routing == other.routing
    assert not said
    many = advisor.after_batch(Batch(calls=CALLS * 300, prompt=typed.prompt), history_tokens=1000, fast_auto=160_000)
    assert (many.routing, many.directive) == (other.routing, other.directive)
    assert not said
    # More sorts of calls than a decision may look at: the conservative outcome, and it is said.
    sorts = [BatchCall(f"tool_{number}", "read") for number in range(300)]
    many = advisor.after_batch(Batch(calls=sorts, prompt="hm"), history_tokens=1000, fast_auto=160_000)
    assert (many.routing["decision"], many.directive["directive"]) == ("primary", "continue")
    assert {type(event) for event in said} == {Degraded}


def test_the_advisor_looks_a_call_up() -> None:
    advisor = Advisor(quick())
    assert advisor.call("Read", {"file_path": "a.py"}) == BatchCall("Read", "read", "read_file")
    assert advisor.call("Bash", {"command": "git status"}, error=True).error
    assert "name is a text" in refused(lambda: advisor.call(""))
    assert advisor.auto(200_000)
    assert advisor.auto(None) is None


async def _before(advisor: Advisor, **options: Any) -> object:
    whole = {"state": LoopState(), "count": Count(Sizes(text_bytes=400)), "window": 200_000, **options}
    return await advisor.before_send(whole.pop("state"), whole.pop("count"), **whole)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"state": None}, "state is a LoopState, not None"),
        ({"state": LoopState(consecutive_failures=-1)}, "`consecutive_failures`: expected at least 0"),
        ({"state": LoopState(tier="hrd")}, "did you mean `hard`?"),
        ({"state": LoopState(compactions_in_a_row=-1)}, "compactions_in_a_row is a whole number from 0 on"),
        ({"count": {"tokens": 5}}, "count is a Count, not a dict"),
        ({"count": Count(added=5)}, "count is made of two Sizes"),  # type: ignore[arg-type]
        ({"count": Count(last_prompt_tokens=-5)}, "`last_prompt_tokens`: expected at least 0"),
        ({"window": -5}, "window is a whole number of tokens"),
        ({"prompts": -1}, "`prompts` is -1; expected at least 0"),
        ({"forced": "yes"}, "expected true or false"),
        ({"triggers": {"prompt": "a secret prompt"}}, "triggers has no span_tokens"),
    ],
)
def test_before_a_send_what_is_wrong_is_refused(options: dict[str, Any], message: str) -> None:
    said = refused(lambda: asyncio.run(_before(Advisor(quick()), **options)))
    assert message in said
    assert "secret" not in said


OTHERS: dict[str, tuple[Callable[[], object], str]] = {
    "a hook": (lambda: Hooks(after_batch=5), "after_batch is a function, or None, not an int"),  # type: ignore[arg-type]
    "an output": (lambda: ToolOutput(5), "the text of a ToolOutput is a text, not an int"),  # type: ignore[arg-type]
    "its images": (lambda: ToolOutput(images=("x",)), "each of the images"),  # type: ignore[arg-type]
    "its error": (lambda: ToolOutput(error="no"), "error of a ToolOutput is true or false"),  # type: ignore[arg-type]
    "what it declares": (lambda: ToolOutput(skip_llm_round=1), "true, false or None"),  # type: ignore[arg-type]
    "a stage": (lambda: asyncio.run(rollout().move("", now_ms=1)), "stage is a text, not an empty one"),
    "who has it": (lambda: asyncio.run(rollout().move("on", fast="yes", now_ms=1)), "`fast` is the text"),
    "a time": (lambda: asyncio.run(rollout().move("on", now_ms="soon")), "`now_ms` is the text"),  # type: ignore[arg-type]
    "a database": (lambda: SqliteStore(5), "path is the path of a file, not an int"),  # type: ignore[arg-type]
    "a store": (lambda: open_store(5), "where is an SQLite file or a URL"),  # type: ignore[arg-type]
    "a part of a message": (lambda: a_session().send([Text(5)]), "a message is a text, or a list"),  # type: ignore[arg-type]
    "where to save": (lambda: a_session().save(5), "path is the path of a file"),  # type: ignore[arg-type]
    "what to resume": (lambda: adapter(Script([]))[0].resume(5, "big"), "path is the path of a saved"),  # type: ignore[arg-type]
}


def rollout() -> Rollout:
    return Adapter(None, [scripted()]).rollout


def a_session() -> Session:
    return adapter(Script([]))[0].session("big")


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_made_or_called_is_checked_at_once(name: str) -> None:
    make, message = OTHERS[name]
    assert message in refused(make)


def test_no_error_repeats_the_password_of_a_store() -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")
    for url in ("http://user:a-password@host", "user:a-password@host"):
        assert "a-password" not in refused(lambda given=url: RedisStore(given))  # type: ignore[misc]


@pytest.mark.parametrize("timeout_s", [0, -1, float("inf"), float("nan"), True, "1"])
def test_a_wait_for_a_store_is_a_time(timeout_s: Any) -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")
    said = refused(lambda: open_store("redis://localhost", timeout_s=timeout_s))
    assert said.startswith("timeout_s is a number of seconds above 0, or None, not ")


def test_how_long_a_store_is_waited_for_is_what_the_settings_say(tmp_path: Path) -> None:
    pytest.importorskip("redis", reason="the extra redis is not installed")

    def waits(store: Any) -> set[float]:
        options = store._redis.connection_pool.connection_kwargs
        return {options["socket_timeout"], options["socket_connect_timeout"]}

    built_in = store_timeout_s(builtin())
    assert waits(RedisStore("redis://localhost")) == waits(open_store("redis://localhost")) == {built_in}
    settings = (policies_folder() / "adapter-settings.yaml").read_text(encoding="utf-8")
    own = re.sub("store_timeout_ms: .*", "store_timeout_ms: 7000", settings)
    (tmp_path / "own.yaml").write_text(own, encoding="utf-8")
    assert waits(open_store("redis://localhost", timeout_s=store_timeout_s(load(tmp_path)))) == {7.0}
    assert store_timeout_s(load(policies_folder() / "tips.yaml")) == built_in


def test_facts_about_a_compaction_are_refused_where_one_is_missing() -> None:
    advisor = Advisor(quick())
    said = refused(lambda: asyncio.run(advisor.compacted(LoopState(), facts={"stop_reason": "stop"})))
    assert "facts has no summary_bytes" in said


def test_what_fails_later_is_said_also_where_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        async def get(self, key: str) -> None:
            raise OSError

        async def update(self, key: str, change: object) -> None:
            raise OSError

        async def close(self) -> None:
            raise OSError

    with caplog.at_level(logging.WARNING, "policyengine.runtime"):
        asyncio.run(_before(Advisor(quick(), Broken())))  # type: ignore[arg-type]
    assert "store: OSError; local state goes on" in caplog.text


def test_the_advisor_writes_records_with_what_is_said_about_them(tmp_path: Path) -> None:
    async def run() -> None:
        advisor = Advisor(None, log=tmp_path / "log.jsonl", about={"session_id": "s1"})
        advisor.after_batch(Batch(calls=CALLS, prompt="what is in it?"), history_tokens=1000, fast_auto=None)
        await advisor.before_send(LoopState(), Count(), window=200_000)
        await advisor.close()

    for about in ({"ronud": 3}, {"round": "3"}):
        assert "ro" in refused(lambda given=about: Advisor(None, about=given))  # type: ignore[misc]
    asyncio.run(run())
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 5
    assert all('"session_id":"s1"' in line for line in lines)


def test_an_adapter_takes_the_path_of_a_log(tmp_path: Path) -> None:
    async def run(path: Path) -> None:
        made = Adapter(None, [scripted()], log=path)
        async for _ in made.session("big", window=100_000).send("hi"):
            pass
        await made.close()

    for name in ("log.jsonl", "log.sqlite"):
        asyncio.run(run(tmp_path / name))
        assert (tmp_path / name).stat().st_size > 1000


def test_runs_as_it_was_where_all_is_well() -> None:
    made, _ = adapter(Script([says("fine")]))

    async def run() -> list[Event]:
        one = made.session("big", strategy="always_primary", window=100_000, fast_routing=None)
        return [event async for event in one.send("hi", turn_kind="cron", model="other")]

    assert not [event for event in asyncio.run(run()) if isinstance(event, Degraded)]
