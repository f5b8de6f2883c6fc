"""Logging decisions of one's own: one call, and what is no decision is refused there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policyengine.kinds.made import Made
from policyengine.log.opening import open_log
from policyengine.log.read import records
from policyengine.log.record import Recorder
from policyengine.log.writer import Log
from policyengine.source.errors import InputError

GATE = {"forced": False, "breaker": "closed", "rescue": "available", "tokens": 170_000, "auto": 167_000}


@pytest.mark.parametrize("names", [["log.jsonl"], ["log.sqlite"], ["log.jsonl", "copy.db"]])
def test_decide_decides_and_records(bundle: Any, tmp_path: Path, names: list[str]) -> None:
    gate = bundle.policy("compaction-gate")
    with open_log(bundle, *(tmp_path / name for name in names)) as log:
        decision = log.decide(gate, GATE, session_id="s1", round=3, time_ms=1_700_000_000_000)
        traced = log.decide(gate, {**GATE, "breaker": "opened"}, trace=True)
        log.decided(Made(gate, GATE, decision))
    assert decision == gate.decide(GATE)
    assert (traced.errors[0].where, len(traced.trace) > 1) == ("input", True)
    assert log.dropped == 0
    for name in names:
        found = list(records(tmp_path / name))
        assert [record["outcome"]["compact"] for record in found] == [True, False, True]
        assert (found[0]["session_id"], found[0]["round"], found[0]["source"]) == ("s1", 3, "runtime")
        assert found[0]["time"].startswith("2023-11-14")
        assert found[1]["errors"][0]["where"] == "input"


def test_prompts_are_masked_unless_asked_for(bundle: Any, tmp_path: Path) -> None:
    for name, shown in (("masked.jsonl", False), ("shown.jsonl", True)):
        with open_log(bundle, tmp_path / name, source="eval", show_prompts=shown) as log:
            log.decide(bundle.policy("prompt-class"), {"prompt": "a secret"})
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert ("a secret" in text) == shown
        assert json.loads(text)["source"] == "eval"


def test_what_is_no_decision_is_refused_at_the_call(bundle: Any, tmp_path: Path) -> None:
    gate = bundle.policy("compaction-gate")
    decision: Any = gate.decide(GATE)
    made = Made(gate, GATE, decision)
    with open_log(bundle, tmp_path / "log.jsonl") as log:
        for call, message in (
            (lambda: log.decided(decision), "decides and logs at once, a Decision does not say"),
            (lambda: log.decided(None), "a NoneType does not say"),  # type: ignore[arg-type]
            (lambda: log.decided(made, ronud=3), "a record has no field `ronud`; did you mean `round`?"),
            (lambda: log.decided(made, round="3"), "`round` of a record: expected a whole number or null"),
            (lambda: log.decided(made, decision="maybe"), "`decision` of a record: expected one of `skip`"),
            (lambda: log.decide("compaction-gate", GATE), "not a str"),  # type: ignore[arg-type]
            (lambda: log.write(decision), "a record is a mapping, not a Decision"),
        ):
            with pytest.raises(InputError) as raised:
                call()  # type: ignore[no-untyped-call]
            assert message in str(raised.value)
            assert "\n" not in str(raised.value)
    assert (log.dropped, log.written) == (0, 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda bundle: Log(bundle, []), "a Log needs a Recorder"),
        (lambda bundle: Log(Recorder(bundle), ["log.jsonl"]), "open_sink(path) makes one"),
        (lambda bundle: Recorder("policies"), "a Recorder records the decisions of a Bundle"),
        (lambda bundle: open_log(bundle), "a log needs a file or a sink"),
        (lambda bundle: open_log("policies", "log.jsonl"), "a Recorder records the decisions of a Bundle"),
        (lambda bundle: open_log(bundle, "no/such/log.jsonl"), "No such file or directory"),
    ],
)
def test_a_log_takes_what_it_takes(bundle: Any, make: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        make(bundle)
    assert message in str(raised.value)
