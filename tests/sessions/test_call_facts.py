"""Facts about calls, as cases."""

import pytest

from policyengine.sessions import ToolCall, ToolResult
from policyengine.sessions.facts import (
    distinct_calls,
    has_cancel,
    has_error,
    tool_output,
    turn_rounds,
    unresolved_errors,
)


def call(spec):
    """`Bash/a:error`: tool, fingerprint, outcome."""
    key, _, outcome = spec.partition(":")
    name, _, fingerprint = key.partition("/")
    result = {
        "": None,
        "ok": ToolResult((), 0, error=False),
        "error": ToolResult((), 0, error=True),
        "unknown": ToolResult((), 0, error=None),
        "cancelled": ToolResult((), 0, error=False, cancelled=True),
    }[outcome]
    return ToolCall(spec, name, fingerprint, fingerprint, result)


@pytest.mark.parametrize(
    ("calls", "open_errors"),
    [
        ("", ""),
        ("Bash/a:ok", ""),
        ("Bash/a:error", "Bash/a"),
        ("Bash/a:error Bash/a:ok", ""),
        ("Bash/a:ok Bash/a:error", "Bash/a"),
        ("Bash/a:error Bash/b:ok", "Bash/a"),
        ("Bash/a:error Read/a:ok", "Bash/a"),
        ("Bash/a:error Bash/a", "Bash/a"),
        ("Bash/a:error Bash/a:unknown", "Bash/a"),
        ("Bash/a:error Bash/a:cancelled", "Bash/a"),
        ("Bash/a:cancelled", ""),
        ("Bash/a:error Bash/b:error Bash/a:ok", "Bash/b"),
    ],
)
def test_unresolved_errors(calls, open_errors):
    expected = {tuple(key.split("/")) for key in open_errors.split()}
    made = [call(spec) for spec in calls.split()]
    assert unresolved_errors(made) == expected
    # One call at a time comes to the same.
    step = frozenset()
    for one in made:
        step = unresolved_errors([one], step)
    assert step == expected


@pytest.mark.parametrize(
    ("calls", "count"), [("", 0), ("Read/a Read/a", 1), ("Read/a Read/b Grep/a", 3), ("Read/a:ok Read/a:error", 1)]
)
def test_distinct_calls(calls, count):
    assert len(distinct_calls([call(spec) for spec in calls.split()])) == count


def test_errors_and_cancels_of_a_batch():
    batch = [call("Read/a:ok"), call("Bash/b:cancelled")]
    assert (has_error(batch), has_cancel(batch)) == (False, True)
    assert has_error([*batch, call("Bash/c:error")])
    assert not has_cancel([call("Bash/c")])


def test_tool_output_of_a_turn(fixture_session):
    session = fixture_session("claude-code.jsonl")
    parts = tool_output(turn_rounds(session.rounds, 1))
    assert [part.text for part in parts] == ["12 lanterns", "no such file", None]
    assert tool_output(turn_rounds(session.rounds, 1, until=0)) == ()
