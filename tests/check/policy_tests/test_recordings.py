"""Inputs from recorded sessions."""

import shutil

import pytest

from tests.check.policy_tests.conftest import DATA


@pytest.fixture
def session(light):
    shutil.copy(DATA / "session.json", light / "session.json")


def case(rest, policy="routing"):
    session = "session: session.json, replay: {fast_window: 200000}"
    return f"policy: {policy}\ncases:\n  - {{name: a, {session}, {rest}}}\n"


@pytest.mark.parametrize(
    "rest",
    [
        "round: 2, rule: fast, expect: {decision: fast}",
        "round: 4, rule: further_action",
        "round: 2, set: {tool_output_tokens: 9000}, rule: output_tokens",
    ],
)
def test_the_recorded_input_of_a_round_is_decided_again(rest, session, write, run):
    result = run("test", write(case(rest)), "--bundle", "policies")
    assert (result.status, result.out.count("passed")) == (0, 1)


def test_a_replay_may_be_set_otherwise(session, write, run):
    rest = "round: 2, rule: always_primary"
    spec = case(rest).replace("fast_window: 200000", "strategy: always_primary")
    assert run("test", write(spec), "--bundle", "policies").status == 0


@pytest.mark.parametrize(
    ("rest", "policy", "says"),
    [
        ("round: 9, rule: fast", "routing", "has no round 9; its last is 4"),
        ("round: 1, rule: fast", "routing", "`routing` is not asked in round 1"),
    ],
)
def test_a_round_in_which_nothing_is_asked_is_a_finding(rest, policy, says, session, write, run):
    result = run("test", write(case(rest, policy)), "--bundle", "policies", "--format", "json")
    (finding,) = result.json["findings"]
    assert says in finding["message"]
    assert finding["line"] == 7
    assert result.status == 1


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_a_failing_case_shows_nothing_of_what_the_session_says(form, session, write, run):
    result = run("test", write(case("round: 2, rule: further_action")), "--bundle", "policies", "--format", form)
    assert result.status == 1
    assert "further_action" in result.out
    assert "payment" not in result.out
