"""`policyengine verify`: the default bundle, exit status, formats, examples that can be pasted, no solver."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from policyengine.check.proofs import solver
from policyengine.check.proofs.results import Verdict
from policyengine.check.proofs.verify import verify
from policyengine.commands import group
from policyengine.kinds.bundle import load
from policyengine.source.errors import MissingExtraError
from policyengine.source.resources import policies_folder


def _run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(group, ["verify", *arguments] if arguments[:1] != ("eval",) else arguments, input=input)


@pytest.fixture(scope="module")
def whole() -> Any:
    return verify(load().policies.values())


def test_the_default_bundle_is_proven_or_its_refutations_are_accepted(whole: Any) -> None:
    left = {(one.policy, one.id) for one in whole.results if one.verdict not in (Verdict.PROVEN, Verdict.ACCEPTED)}
    assert left == set()
    assert not whole.missing


_SETTINGS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["chatCompression", "contextPercentageThreshold", "hasFailedCompressionAttempt", "other"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["chatCompression", "hasFailedCompressionAttempt", "x"]), _SETTINGS, max_size=3))
def test_retired_settings_are_judged_whatever_shape_a_settings_file_has(settings: Any) -> None:
    decision = load_once().policy("retired-settings").decide({"settings": settings})
    assert decision.errors == ()
    inside = settings.get("chatCompression")
    nested = isinstance(inside, dict) and "contextPercentageThreshold" in inside
    assert len(decision.outcome["matches"]) == ("hasFailedCompressionAttempt" in settings) + nested


@cache
def load_once() -> Any:
    return load()


def test_a_value_of_an_example_is_not_rounded_into_another() -> None:
    found = _run("--policy", "ceiling").output
    assert "at window 1: auto = 0.85," in found
    assert "at window 33 000: auto = 28 050," in found


def test_every_acceptance_has_a_domain_and_a_reason(whole: Any) -> None:
    accepted = [one for one in whole.results if one.verdict is Verdict.ACCEPTED]
    assert accepted
    assert all(one.accepted and one.reason for one in accepted)


def test_the_recommended_ladder_has_none_accepted(whole: Any) -> None:
    assert {one.verdict for one in whole.results if one.policy == "proven"} == {Verdict.PROVEN}


def test_every_policy_of_the_loop_states_a_property(whole: Any) -> None:
    stated = {one.policy for one in whole.results if not one.built_in}
    assert stated >= {
        "breaker", "compaction-call", "compaction-gate", "compaction-result", "directives", "routing", "tips",
        "token-estimate", "floor", "gap", "ceiling", "proven",
    }  # fmt: skip


def test_every_example_decides_as_it_says_when_pasted(whole: Any) -> None:
    for one in whole.results:
        for example in one.examples:
            found = _run("eval", one.policy, "--input", "-", "--format", "json", input=json.dumps(example.input))
            assert found.exit_code == 0, found.output
            if set(example.input) != {"window", "tokens"}:
                assert json.loads(found.stdout)["decision"] == dict(example.seen)


STATUS = [
    # arguments, exit status, what is said
    (
        ["--policy", "floor"],
        0,
        ["accepted", "fails for windows 1 to 66 666", "proven for windows 66 667 to 10 000 000"],
    ),
    (["--policy", "ceiling"], 0, ["auto at 33000 = 28 050, auto at 33001 = 1"]),
    (["--policy", "proven"], 0, ["12 claims: 12 proven"]),
    (["--policy", "compaction-gate", "--all"], 0, ["rules-reachable: Every rule decides for some input."]),
    (["--policy", "tips"], 0, ["No two tips are shown at once", "| policyengine eval tips --input -"]),
    (["--policy", "nothing"], 2, []),
    (["/there/is/nothing"], 2, []),
]


@pytest.mark.parametrize(("arguments", "status", "says"), STATUS, ids=[" ".join(row[0]) for row in STATUS])
def test_status(arguments: list[str], status: int, says: list[str]) -> None:
    found = _run(*arguments)
    assert (found.exit_code if found.exit_code != 1 or found.exception is None else 2) == status
    for text in says:
        assert text in found.output


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "floor.yaml"
    text = (policies_folder() / "ladders" / "floor.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("window < 66667.0", "window < 66666.0"), encoding="utf-8")
    return str(path)


def test_a_refutation_exits_with_1_and_shows_a_line_to_paste(broken: str) -> None:
    found = _run(broken)
    assert found.exit_code == 1
    assert "it fails outside the accepted domain" in found.output
    line = next(line for line in found.output.splitlines() if "policyengine eval" in line).strip()
    words = shlex.split(line)
    assert words[:2] == ["printf", "%s"]
    assert words[3:] == ["|", "policyengine", "eval", "floor", "--bundle", broken, "--input", "-"]
    assert json.loads(words[2]) == {"window": 66_666, "tokens": 0}
    outcome = load(broken).policy("floor").outcome(json.loads(words[2]))
    assert outcome["auto"] + outcome["compact_max_output_tokens"] > 66_666


def test_json_holds_the_windows(broken: str) -> None:
    found = _run(broken, "--format", "json")
    document = json.loads(found.output)
    row = next(row for row in document["results"] if row["id"] == "self-hosting")
    assert row["verdict"] == "refuted"
    assert row["fails_at_windows"] == [{"from": 66_666, "to": 66_666}]
    assert row["holds_at_windows"] == [{"from": 66_667, "to": 10_000_000}]
    assert row["examples"][0]["input"] == {"window": 66_666, "tokens": 0}
    assert document["counts"]["refuted"] == 1


def test_not_decided_fails_only_when_strict(tmp_path: Path) -> None:
    text = (policies_folder() / "ladders" / "floor.yaml").read_text(encoding="utf-8")
    path = tmp_path / "floor.yaml"
    path.write_text(text.replace("pct: pct * window", "pct: 1.0 / window"), encoding="utf-8")
    assert "not decided" in _run(str(path)).output
    assert _run(str(path)).exit_code == 0
    assert _run(str(path), "--strict").exit_code == 1


def test_without_the_solver_ladders_are_decided_and_the_rest_says_what_to_install(monkeypatch: Any) -> None:
    def missing() -> Any:
        raise MissingExtraError("z3-solver", "proofs", "proving a policy that is not a ladder")

    for module in ("symbols", "inputs", "translate", "calculation", "searching", "witnesses", "solver"):
        monkeypatch.setattr(f"policyengine.check.proofs.{module}.z3", missing)
    assert solver.z3 is missing
    assert _run("--policy", "floor").exit_code == 0
    found = _run("--policy", "floor", "--policy", "routing")
    assert found.exit_code == 2
    assert "fails for windows 1 to 66 666" in found.output
    assert "pip install 'policyengine[proofs]'" in found.output


SPARE = [
    # the accepted domain, what is said of it
    ("window < 66667.0", None),
    ("window < 66668.0", "window 66 667, too"),
    ("window < 80000.0", "windows between 66 667 and 79 999, too"),
    ("window < 50000.0 || window > 60000.0 && window < 90000.0", "it fails outside the accepted domain"),
]


@pytest.mark.parametrize(("domain", "says"), SPARE)
def test_what_is_accepted_beyond_need_is_said(tmp_path: Path, domain: str, says: str | None) -> None:
    path = tmp_path / "floor.yaml"
    text = (policies_folder() / "ladders" / "floor.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("window < 66667.0", domain), encoding="utf-8")
    row = next(
        row for row in json.loads(_run(str(path), "--format", "json").stdout)["results"] if row["id"] == "self-hosting"
    )
    if says is None:
        assert (row["verdict"], row["detail"]) == ("accepted", "")
        return
    assert says in row["detail"]
    assert says in _run(str(path)).stdout
    assert row["verdict"] == ("refuted" if "outside" in says else "accepted")


DEFAULTS = [
    # the last condition, whether the default is reached
    ("n > 5", True),
    ("n >= 0", False),
    ("'true'", False),
]


@pytest.mark.parametrize(("condition", "reached"), DEFAULTS)
def test_a_default_that_nothing_is_left_for_is_refuted(tmp_path: Path, condition: str, reached: bool) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        "apiVersion: policyengine/v1\nkind: Table\nmetadata: {name: t, version: 1.0.0}\nspec:\n"
        "  input: {type: object, required: [n], properties: {n: {type: integer, minimum: 0}}}\n"
        f"  rules: [{{id: a, when: {condition}, outcome: {{x: 1}}}}]\n"
        "  default: {outcome: {x: 0}}\n  on_error: {x: -1}\n"
    )
    found = _run(str(path), "--format", "json")
    row = next(row for row in json.loads(found.stdout)["results"] if row["id"] == "rules-reachable")
    assert (row["verdict"], found.exit_code) == (("proven", 0) if reached else ("refuted", 1))
    assert reached or row["detail"] == "no input reaches default"
    accepted = "accepted: {domain: 'rule == \"default\"', reason: r}"
    path.write_text(f"{path.read_text()}  properties: [{{id: d, check: rules-reachable, {accepted}}}]\n")
    assert _run(str(path)).exit_code == (1 if reached else 0)
