"""An option that would have no effect beside the others is refused, in one sentence."""

import json

import pytest

from tests.conftest import ROOT

SAMPLE = str(ROOT / "examples" / "sample-session.jsonl")
MODELS = ("--primary-model", "claude-opus-4-5", "--fast-model", "claude-haiku-4-5")
QUALITY = ("gate", "quality", "--log", "LOG")
REFUSED = [
    # Sessions and decision logs are replayed in two ways.
    (("replay", "LOG", "--log", "new.jsonl"), "--log is for sessions"),
    (("replay", "LOG", "--log-prompts"), "--log-prompts is for sessions"),
    (("replay", "LOG", "--round", "3"), "--round is for sessions"),
    (("replay", "LOG", "--ladder", "floor"), "--ladder is for sessions"),
    (("replay", "LOG", "--strategy", "auto"), "--strategy is for sessions"),
    (("replay", "LOG", "--window", "1000"), "--window is for sessions"),
    (("replay", "LOG", "--fast-window", "1000"), "--fast-window is for sessions"),
    (("replay", "LOG", "--format", "jsonl"), "--format jsonl is for sessions"),
    (("replay", SAMPLE, "--max-changed", "5%"), "--max-changed is for decision logs"),
    (("replay", SAMPLE, "--engine", "local"), "--engine is for decision logs"),
    (("replay", SAMPLE, "--output", "out"), "--output is for decision logs"),
    (("replay", "LOG", "--wide"), "--wide is for sessions"),
    (("replay", SAMPLE, "--wide", "--format", "json"), "--wide is about the table of rounds"),
    (("replay", SAMPLE, "--wide", "--round", "3"), "--wide is about the table of rounds"),
    (("replay", SAMPLE, "--log-prompts"), "--log-prompts says how records are written; give --log FILE"),
    (("eval", "floor", "--example", "--log-prompts"), "--log-prompts says how the record is written; give --log FILE"),
    ((*QUALITY, "--stage", "dogfood"), "--stage is for a gate that moves a rollout stage; `quality` is a Gate"),
    ((*QUALITY, "--stage-days", "3"), "--stage-days is for a gate that moves a rollout stage"),
    ((*QUALITY, "--scope", "default"), "--scope is a part of the state store; give --state"),
    ((*QUALITY, "--baseline", "BASELINE"), "--baseline has no effect: `quality` compares nothing with a baseline"),
    ((*QUALITY, *MODELS), "--primary-model and --fast-model have no effect: `quality` does not ask about models"),
    (("gate", "activation", "--log", "LOG", *MODELS[:2]), "are compared with each other; give both"),
    (("gate", "activation", "--log", "LOG", *MODELS[:3], "nope"), "--fast-model: the catalogue has no model 'nope'"),
    (("baseline", "--log", "LOG", *MODELS[2:]), "are compared with each other; give both"),
    (("baseline", "--log", "LOG", *MODELS[:3], "claude-haiku-4.5"), "did you mean `claude-haiku-4-5`?"),
    (("lint", "policies", "--unsafe-fixes"), "--unsafe-fixes says which fixes are made; give --fix or --diff with it"),
    (("test", "policies", "--max-seconds", "5"), "--max-seconds bounds the trying of mutants; give --mutate"),
    (("test", "policies", "--trace", "--format", "json"), "--trace is for text"),
    (("verify", "--all", "--format", "json"), "--all is for text"),
    (("context", "--window", "1000", "--model", "claude-haiku-4-5"), "give --window N or --model NAME, not both"),
    (("diff", "policies", "policies", "--window", "9"), "--window is about replayed sessions; give --replay SESSION"),
    (("diff", "policies", "policies", "--max-changed", "9"), "--max-changed is about replayed sessions"),
    (("diff", "policies", "policies", "--replay", "LOG"), "is a decision log; `policyengine replay "),
    (("run", "hi", "--fast-window", "9"), "--fast-window is a limit of the fast model; name that with --fast MODEL"),
    (("run", "hi", "--fast-max-output", "9"), "--fast-max-output is a limit of the fast model"),
    (("compress", SAMPLE, "--compare", "--method", "opaque"), "--method has no effect with --compare"),
    (("compress", SAMPLE, "--compare", "--cycles", "3"), "--cycles has no effect with --compare"),
    (("compress", SAMPLE, "--compare", "--profile", "x"), "--profile has no effect with --compare"),
    (("compress", SAMPLE, "--compare", "--keep-nothing"), "--keep-nothing has no effect with --compare"),
    (("compress", SAMPLE, "--compare", "--window", "9"), "--window has no effect with --compare"),
    (("compress", SAMPLE, "--cycles", "3", "--window", "9"), "--window has no effect with --cycles"),
    (("compress", SAMPLE, "--cycles", "3", "--at", "3"), "--at has no effect with --cycles"),
    (("compress", SAMPLE, "--model", "m"), "need --provider"),
    (("probe", SAMPLE, "--at", "3", "--provider", "openai", "--model", "m"), "give one with --summary FILE"),
]  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("idle") / "log.jsonl"
    record = {
        "schema": "policyengine.record/1", "kind": "Ladder", "policy": "floor", "rules": [], "outcome": {}, "input": {},
    }  # fmt: skip
    path.write_text(json.dumps(record) + "\n")
    (path.parent / "b.json").write_text('{"schema": "policyengine.baseline/1", "metrics": {}}')
    return path


@pytest.mark.parametrize(("args", "said"), REFUSED, ids=[" ".join(args) for args, _ in REFUSED])
def test_what_would_have_no_effect_is_refused(run, log, tmp_path, monkeypatch, args, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policies").symlink_to(ROOT / "policies")
    found = run(*({"LOG": log, "BASELINE": log.with_name("b.json")}.get(arg, arg) for arg in args))
    assert (found.status, found.out) == (2, "")
    assert said in found.err
    assert len(found.err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policies"]
