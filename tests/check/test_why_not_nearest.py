"""`eval --why-not`: the nearest input that gives another outcome, or that none does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from policyengine.commands import group
from policyengine.kinds.bundle import load
from policyengine.source.errors import MissingExtraError


def _run(policy: str, wanted: str, *settings: str, form: str = "json") -> Result:
    sets = [part for one in settings for part in ("--set", one)]
    example = [] if policy in ("floor", "retired-settings") else ["--example"]
    return CliRunner().invoke(group, ["eval", policy, *example, *sets, "--why-not", wanted, "--format", form])


EDIT = '{"name": "Edit", "tool": "edit_file", "kind": "edit", "error": false, "cancelled": false}'
READ = '{"name": "Read", "tool": "read_file", "kind": "read", "error": false, "cancelled": false}'
LADDER = ("window=200000", "tokens=1000")

NEAREST = [
    # policy, wanted, settings, one of the nearest changes as path -> new value
    ("routing", "decision=primary", (), {"unresolved_errors": 1}),
    ("routing", "decision=fast", ("unresolved_errors=2",), {"unresolved_errors": 0}),
    ("routing", "decision=fast", ("strategy=always_primary",), {"strategy": None}),
    ("routing", "rule=fast", (f"batch=[{READ}, {EDIT}]",), {"batch": [json.loads(READ)]}),
    ("routing", "rule=write_tool", (), {"batch[0].kind": None}),
    ("floor", "tier=hard", LADDER, {"tokens": 177_000}),
    ("floor", "tier=auto", LADDER, {"tokens": 167_000}),
    ("floor", "tier=warn", ("window=200000", "tokens=170000"), {"tokens": 166_999}),
    ("compaction-call", "call=false", (), {"input_tokens": 64_037}),
    ("compaction-gate", "compact=true", ("forced=false", "breaker=open", "tokens=200000", "auto=1"), {"forced": True}),
    ("tips", "tip=null", (), {"tokens": 146_999}),
    ("prompt-class", "prompt_class=action", ("prompt=hello",), {"prompt": None}),
    ("retired-settings", "rule=hasFailedCompressionAttempt", ('settings={"a": 1}',),
     {"settings.hasFailedCompressionAttempt": True}),
]  # fmt: skip


@pytest.mark.parametrize(("policy", "wanted", "settings", "change"), NEAREST)
def test_nearest(policy: str, wanted: str, settings: tuple[str, ...], change: dict[str, Any]) -> None:
    found = _run(policy, wanted, *settings)
    assert found.exit_code == 0, found.stdout
    nearest = json.loads(found.stdout)["why_not"]["nearest"]
    changes = [{one["path"]: one["new"] for one in row["changes"]} for row in nearest]
    ((path, value),) = change.items()
    assert any(set(row) == {path} and (value is None or row[path] == value) for row in changes), changes
    name, _, text = wanted.partition("=")
    for row in nearest:
        decision = load().policy(policy).decide(row["input"])
        assert not decision.errors
        if name == "rule":
            assert decision.rules == (text,)
        else:
            assert json.dumps(decision.outcome[name]).strip('"') == text


def test_a_number_is_changed_no_further_than_needed() -> None:
    row = json.loads(_run("floor", "tier=hard", *LADDER).stdout)["why_not"]["nearest"]
    one = next(one for one in row if one["changes"][0]["path"] == "tokens")
    ladder = load().policy("floor")
    assert ladder.outcome({**one["input"], "tokens": one["input"]["tokens"] - 1})["tier"] == "auto"


def test_a_field_that_an_input_does_not_have_is_missing_and_not_null() -> None:
    given = ("compaction-gate", "rule=asked", "forced=false", "auto=null")
    text = _run(*given, form="text").stdout
    assert "  asked  missing → true\n" in text
    changes = [row["changes"] for row in json.loads(_run(*given).stdout)["why_not"]["nearest"]]
    assert [{"path": "asked", "new": True}] in changes
    # A field that is null has a value.
    assert "  auto  null → " in _run("compaction-gate", "rule=below_auto", *given[2:], form="text").stdout


# Numbers beside each other: none of them can be changed by less while the others stay.
FURTHER = [
    ("tier=auto", {"window": None, "tokens": 5}, 76_700),  # on smaller windows `hard` comes first
    ("tier=hard", {"window": None, "tokens": 5}, 100),
    ("tier=warn", {"window": None, "tokens": 100_000}, 200_000),
    ("tier=auto", {"window": 10, "tokens": 5}, 76_700),
]


@pytest.mark.parametrize(("wanted", "given", "most"), FURTHER)
def test_several_numbers_are_changed_no_further_than_needed(wanted: str, given: dict[str, Any], most: int) -> None:
    settings = [f"{name}={json.dumps(value)}" for name, value in given.items()]
    rows = json.loads(_run("floor", wanted, *settings).stdout)["why_not"]["nearest"]
    ladder = load().policy("floor")
    assert rows
    for row in rows:
        assert row["input"]["window"] <= most
        for change in row["changes"]:
            field, old, new = change["path"], change["old"] or 0, change["new"]
            nearer = new + (1 if old > new else -1)
            assert ladder.outcome({**row["input"], field: nearer})["tier"] != wanted.partition("=")[2]


SAID = [
    # policy, wanted, settings, the text
    ("routing", "decision=fast", (), "decision=fast is what is decided"),
    ("breaker", "rule=half_open", (), "no input gives rule=half_open: proven"),
    ("floor", "tier=hard", LADDER, "nearest inputs that give tier=hard: 1 field changed"),
]


@pytest.mark.parametrize(("policy", "wanted", "settings", "says"), SAID)
def test_text(policy: str, wanted: str, settings: tuple[str, ...], says: str) -> None:
    assert says in _run(policy, wanted, *settings, form="text").output


WRONG = [
    ("routing", "decison=fast", "decides no 'decison'"),
    ("routing", "rule=fats", "has no rule 'fats'"),
    ("routing", "fast", "write FIELD=VALUE"),
    ("routing", "decision=fats", "expected one of `fast`, `primary` (did you mean `fast`?)"),
    ("floor", "tier=bogus", '`tier` is the text "bogus"; expected one of `none`, `warn`, `auto`, `hard`'),
    ("floor", "tier=3", "`tier` is 3; expected text"),
    ("floor", "hard=many", '`hard` is the text "many"; expected'),
    ("compaction-call", "thinking=sometimes", "`thinking` is the text"),
]


@pytest.mark.parametrize(("policy", "wanted", "says"), WRONG)
def test_what_cannot_be_asked(policy: str, wanted: str, says: str) -> None:
    found = _run(policy, wanted, *(LADDER if policy == "floor" else ()))
    assert found.exit_code != 0
    assert says in str(found.exception)


def test_a_field_of_what_is_collected_cannot_be_asked_for() -> None:
    found = _run("retired-settings", "treatment=convert", "settings={}")
    assert "ask for one by rule=ID" in str(found.exception)


@pytest.mark.parametrize(("policy", "wanted", "settings", "change"), NEAREST[:3] + NEAREST[5:9])
def test_without_the_solver_single_fields_are_still_found(
    monkeypatch: Any, policy: str, wanted: str, settings: tuple[str, ...], change: dict[str, Any]
) -> None:
    def missing() -> Any:
        raise MissingExtraError("z3-solver", "proofs", "this")

    for module in ("symbols", "inputs", "translate", "calculation", "searching", "witnesses", "solver"):
        monkeypatch.setattr(f"policyengine.check.proofs.{module}.z3", missing)
    rows = json.loads(_run(policy, wanted, *settings).stdout)["why_not"]["nearest"]
    assert {**change}.keys() & {one["path"] for row in rows for one in row["changes"]}
