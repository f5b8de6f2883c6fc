"""Who may use the fast model: stage, kill switch, one rate limit; in the store, by policy, for all that share it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis_server import redis_server
from runtime_kit import LOOK, Script, adapter, calls, events, fault, of, quick, says, texts, tool

from policyengine.runtime.events import AttemptEnded, Degraded, FastTurnedOff, Routed
from policyengine.runtime.rollout import Rollout
from policyengine.runtime.state.opening import open_store
from policyengine.runtime.state.sqlite import SqliteStore
from policyengine.runtime.state.store import MemoryStore

TURN = [calls(LOOK), says("fine")]


def _session(made: Any, **more: Any) -> Any:
    options = {"fast": "small", "tools": [tool()], "window": 200_000, "fast_window": 200_000}
    return made.session("big", **{**options, **more})


def _reason(script: Script, one: Any, run: Any = asyncio.run) -> tuple[str, str]:
    """Who answered after the batch, and why."""
    found = run(events(one.send("show me the file")))
    routed = of(found, Routed)[0]
    assert script.requests[-1].model == ("small" if routed.decision == "fast" else "big")
    return routed.decision, routed.reason


STAGES = [
    (None, None, "primary"), (None, True, "fast"), ("dogfood", None, "primary"), ("dogfood", True, "fast"),
    ("opt_in", None, "primary"), ("opt_in", True, "fast"), ("default_on", None, "fast"),
    ("default_on", False, "primary"), ("rollback", None, "primary"), ("rollback", True, "primary"),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "asked", "decision"), STAGES)
def test_the_adapter_obeys_the_stage_in_the_store(stage: str | None, asked: bool | None, decision: str) -> None:
    script = Script(TURN)
    made, log = adapter(script, bundle=quick())
    if stage is not None:
        asyncio.run(made.rollout.move(stage, now_ms=1))
    assert _reason(script, _session(made, fast_routing=asked))[0] == decision
    access = next(r for r in log.records if r["kind"] == "FastAccess")
    assert access["outcome"]["allowed"] is (decision == "fast")
    assert access["input"].get("stage") == stage


DAMAGED = [
    # a key of the store, what another hand has left there
    ("fast-calls", {"calls": [[1], ["x", 2], 5, None, [1, 2, 3], [True, "routing"], {"at": 1}, "ab"]}),
    ("fast-calls", {"calls": 7}),
    ("kill-switch", {"recent": ["x", None, [1], 2, -1, 0.5], "tripped": "no"}),
    ("kill-switch", {"recent": {"a": 1}}),
    ("rollout", {"stage": 5, "fast": [], "since_ms": "x"}),
    ("breaker", {"consecutive_failures": 2**63, "rescues": 10**30, "generation": 2**63 - 1, "opened_at_ms": 10**25}),
    ("breaker", {"consecutive_failures": "3", "rescues": [], "generation": None, "opened_at_ms": -1}),
]


@pytest.mark.parametrize(("key", "left"), DAMAGED)
def test_what_is_damaged_in_the_store_counts_as_not_there(key: str, left: dict[str, Any]) -> None:
    script = Script([*TURN, *TURN])
    store = MemoryStore()
    made, _ = adapter(script, bundle=quick(), store=store, shared_breaker=True)
    asyncio.run(store.update(f"{key}:{made.rollout.kill_key.partition(':')[2]}", lambda _: (left, None)))
    one = _session(made, fast_routing=True)
    for _ in range(2):
        found = asyncio.run(events(one.send("show me the file")))
        assert of(found, Degraded) == []
        assert of(found, Routed)[0].decision == "fast"


def test_what_the_stage_policy_says_of_a_stage_counts_and_not_its_name() -> None:
    script = Script(TURN)
    made, _ = adapter(script, bundle=quick())
    asyncio.run(made.rollout.move("default_on", fast="opt_in", now_ms=1))
    assert _reason(script, _session(made)) == ("primary", "not_activated")


def test_a_stage_moves_for_running_sessions_of_all_that_share_the_store() -> None:
    store = MemoryStore()
    script = Script([*TURN, *TURN, *TURN])
    made, _ = adapter(script, bundle=quick(), store=store, scope="team")
    other, _ = adapter(Script(TURN), bundle=quick(), store=store, scope="team")
    elsewhere, _ = adapter(Script(TURN), bundle=quick(), store=store, scope="another")
    one = _session(made)
    asyncio.run(other.rollout.move("default_on", now_ms=1))
    assert _reason(script, one)[0] == "fast"
    asyncio.run(elsewhere.rollout.move("rollback", now_ms=2))
    assert _reason(script, one)[0] == "fast"
    asyncio.run(other.rollout.move("rollback", now_ms=3))
    assert _reason(script, one)[0] == "primary"


def test_the_kill_switch_is_shared_and_a_person_turns_it_back() -> None:
    store = MemoryStore()
    failing = Script([calls(LOOK), [fault("connection")], says("fine")] * 3)
    script = Script([*TURN, *TURN])
    bundle = quick(kill_switch={"min_fast_rounds": 3})
    made, _ = adapter(failing, bundle=bundle, store=store)
    other, _ = adapter(script, bundle=bundle, store=store)
    one, second = _session(made, fast_routing=True), _session(other, fast_routing=True)
    found = [asyncio.run(events(one.send("show me"))) for _ in range(3)]
    assert len(of(found[2], FastTurnedOff)) == 1
    assert _reason(script, second) == ("primary", "not_activated")
    asyncio.run(other.rollout.reset_kill_switch())
    assert _reason(script, second)[0] == "fast"


def _rounds(path: Path, fallbacks: int) -> None:
    """A log of 200 fast rounds, much quicker than 200 primary ones."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(400):
            fast, fell = number < 200, number < fallbacks
            record = {
                "kind": "Routing", "policy": "routing", "policy_version": "1.0.0", "rules": [], "source": "runtime",
                "time": f"2026-03-{1 + number % 9:02d}T00:00:00.000+00:00", "session_id": "s", "turn_id": f"s/{number}",
                "round": number + 1, "decision": "fast" if fast else "primary", "response": "text",
                "tier_actual": "fast" if fast and not fell else "primary", "total_rt_ms": 1000 if fast else 4000,
                "prompt_tokens": 1000, "cached_tokens": 0, "half_written_texts": 0, "fallback_triggered": fell,
                **({"fallback_reason": "timeout"} if fell else {}),
            }  # fmt: skip
            file.write(json.dumps({"schema": "policyengine.record/1", **record}) + "\n")


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(params=["sqlite", "redis"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What --state is given."""
    return str(tmp_path / "state.db") if request.param == "sqlite" else str(request.getfixturevalue("redis"))


def test_gate_moves_the_stage_that_adapters_obey(state: str, tmp_path: Path, run: Any) -> None:
    log = tmp_path / "log.jsonl"
    script = Script([*TURN, *TURN])
    made, _ = adapter(script, bundle=quick(), store=open_store(state))
    # The agent lives in one event loop, as its connections do; each gate is a process of its own.
    agent = asyncio.Runner()

    def gate(*more: str) -> dict[str, Any]:
        found = run("gate", "rollout", "--log", log, "--state", state, "--format", "json", *more)
        outcome: dict[str, Any] = found.json["outcome"]
        return outcome

    _rounds(log, 1)
    assert gate("--stage", "opt_in", "--stage-days", "20")["stage"] == "default_on"
    kept = agent.run(made.rollout.stage())
    assert (kept.stage, kept.fast) == ("default_on", "on")
    assert _reason(script, _session(made), agent.run)[0] == "fast"
    assert gate()["reason"] == "default_on_too_short"
    assert agent.run(made.rollout.stage()).since_ms == kept.since_ms
    _rounds(log, 60)
    assert gate()["move"] == "rollback"
    assert _reason(script, _session(made, fast_routing=True), agent.run)[0] == "primary"
    _rounds(log, 1)
    assert gate()["stage"] == "rollback"
    assert gate("--stage", "dogfood")["stage"] != "rollback"
    agent.run(made.close())
    agent.close()


def test_gates_at_once_move_the_stage_one_after_the_other(redis: str, tmp_path: Path) -> None:
    """Each process moves the stage in a step of its own; the beginning of a stage is that of the first."""
    log = tmp_path / "log.jsonl"
    _rounds(log, 1)
    command = [
        sys.executable, "-c", "from policyengine.commands import main; main()", "gate", "rollout", "--log", str(log),
        "--state", redis, "--scope", "at-once", "--stage", "opt_in", "--stage-days", "20", "--format", "json",
    ]  # fmt: skip
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ended = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0], ended
    moved = asyncio.run(_stage_of(redis, "at-once"))
    assert moved.stage == "default_on"
    again = subprocess.run(
        [*command[:10], "at-once", "--format", "json"], capture_output=True, text=True, check=False, timeout=60
    )
    assert json.loads(again.stdout)["outcome"]["reason"] == "default_on_too_short", again.stderr
    assert asyncio.run(_stage_of(redis, "at-once")) == moved


async def _stage_of(url: str, scope: str) -> Any:
    store = open_store(url)
    try:
        return await Rollout(store, scope).stage()
    finally:
        await store.close()


NOT_THERE = {
    "a server that is down": ("redis://me:SECRET@127.0.0.1:1/0", "redis://127.0.0.1:1/0"),
    "a port that is none": ("redis://me:SECRET@127.0.0.1:99999999/0", "redis://127.0.0.1"),
    "a path that is no database": ("redis://me:SECRET@127.0.0.1:1/x", "redis://127.0.0.1:1/x"),
    "another kind of store": ("postgres://me:SECRET@here/db", "SQLite"),
    "a folder that is not there": ("nowhere/state.db", "nowhere/state.db"),
}


@pytest.mark.parametrize("name", NOT_THERE)
def test_a_store_that_cannot_be_used_is_one_clear_line(name: str, tmp_path: Path, run: Any) -> None:
    state, said = NOT_THERE[name]
    log = tmp_path / "log.jsonl"
    _rounds(log, 1)
    found = run("gate", "rollout", "--log", log, "--state", state)
    assert (found.status, found.out) == (2, "")
    assert said in found.err
    assert "SECRET" not in found.err
    assert len(found.err.splitlines()) == 1
    assert "internal error" not in found.err


def test_a_wrong_password_is_said_and_not_repeated(redis: str, tmp_path: Path, run: Any) -> None:
    log = tmp_path / "log.jsonl"
    _rounds(log, 1)
    found = run("gate", "rollout", "--log", log, "--state", redis.replace("redis://", "redis://me:SECRET@"))
    assert (found.status, len(found.err.splitlines())) == (2, 1)
    assert "SECRET" not in found.err
    assert redis in found.err


def test_redis_without_its_package_names_the_extra(tmp_path: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    log = tmp_path / "log.jsonl"
    _rounds(log, 1)
    found = run("gate", "rollout", "--log", log, "--state", "redis://127.0.0.1:1/0")
    assert found.status == 2
    assert found.err.splitlines() == [
        "policyengine: a shared state store needs redis; install it with: pip install 'policyengine[redis]'"
    ]


def test_run_keeps_its_state_where_gate_does(state: str, tmp_path: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("run", "hello", "--state", state, "--fast", "scripted", "--quiet", "--log", "log.jsonl")
    assert run(*asked).status == 0
    _rounds(tmp_path / "rounds.jsonl", 1)
    run("gate", "rollout", "--log", "rounds.jsonl", "--state", state, "--stage", "rollback")
    assert run(*asked).status == 0
    access = [
        record["outcome"]["reason"]
        for record in map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
        if record["kind"] == "FastAccess"
    ]
    assert access[-1] == "rolled_back"
    assert access[0] != "rolled_back"


def test_a_gate_that_moves_no_stage_takes_no_state(tmp_path: Path, run: Any) -> None:
    log = tmp_path / "log.jsonl"
    _rounds(log, 1)
    found = run("gate", "quality", "--log", log, "--state", tmp_path / "state.db")
    assert found.status == 2
    assert "`quality` is a Gate" in found.err
    assert not (tmp_path / "state.db").exists()


def _limited(**constants: Any) -> Any:
    return quick(fast_access={"max_calls": 3, **constants})


def test_helper_calls_and_routing_share_one_limit() -> None:
    store = MemoryStore()
    now = [1_000_000]
    script = Script([lambda r: calls(LOOK) if r.messages[-1].role == "user" and r.tools else says("fine")])
    options = {"bundle": _limited(), "store": store, "clock": lambda: now[0]}
    made, _ = adapter(script, **options)
    other, _ = adapter(script, **options)
    one, second = _session(made, fast_routing=True), _session(other)
    assert asyncio.run(second.helper("a label for this")) == "fine"
    assert _reason(script, one)[0] == "fast"
    assert asyncio.run(second.helper("another")) == "fine"
    assert _reason(script, one) == ("primary", "not_activated")
    asked = len(script.requests)
    assert asyncio.run(second.helper("one more")) is None
    assert len(script.requests) == asked
    now[0] += 60_001
    assert _reason(script, one)[0] == "fast"


def test_a_person_who_always_wants_the_fast_model_passes_no_rate_limit() -> None:
    script = Script([lambda r: calls(LOOK) if r.messages[-1].role == "user" else says("fine")])
    made, _ = adapter(script, bundle=_limited(max_calls=1))
    one = _session(made, fast_routing=True, strategy="always_fast")
    found = [asyncio.run(events(one.send("show me"))) for _ in range(2)]
    assert [of(turn, AttemptEnded)[-1].model for turn in found] == ["small", "big"]


def test_a_round_that_is_not_routed_to_the_fast_model_takes_nothing_of_the_limit() -> None:
    script = Script([*TURN, *TURN, *TURN])
    made, _ = adapter(script, bundle=_limited(max_calls=1))
    one = _session(made, fast_routing=True)
    asyncio.run(events(one.send("fix the file")))
    asyncio.run(events(one.send("explain the file")))
    assert _reason(script, one)[0] == "fast"


def test_of_calls_at_once_no_more_pass_than_the_limit_says(tmp_path: Path) -> None:
    script = Script([says("fine")])
    made, _ = adapter(script, bundle=_limited(max_calls=3), store=SqliteStore(tmp_path / "state.db"))
    sessions = [_session(made) for _ in range(8)]

    async def run() -> list[str | None]:
        return await asyncio.gather(*(one.helper("a label") for one in sessions))

    assert sorted(asyncio.run(run()), key=str) == [None] * 5 + ["fine"] * 3
    asyncio.run(made.close())


def test_helper_calls_are_off_while_routing_is_on_where_the_policy_says_so() -> None:
    script = Script([says("fine")])
    made, _ = adapter(script, bundle=_limited(helpers="off_while_routing"))
    assert asyncio.run(_session(made, fast_routing=True).helper("a label")) is None
    assert asyncio.run(_session(made).helper("a label")) == "fine"


def test_a_helper_call_leaves_the_conversation_alone() -> None:
    script = Script([says("hello"), says("a label"), [fault("connection")], calls(LOOK)])
    made, log = adapter(script, bundle=quick())
    one = _session(made)
    asyncio.run(events(one.send("hi")))
    before = texts(one)
    label = asyncio.run(one.helper("name this: SECRET", system="Answer in three words.", max_output_tokens=20))
    assert label == "a label"
    request = script.requests[1]
    assert (request.model, request.system, request.max_output_tokens) == ("small", "Answer in three words.", 20)
    assert (len(request.messages), request.tools, request.thinking) == (1, (), "off")
    assert asyncio.run(one.helper("again")) is None
    assert asyncio.run(one.helper("again")) is None
    assert texts(one) == before
    assert len(one.usage["small"]) == 3
    assert "SECRET" not in json.dumps(log.records, default=str)
