"""What CompressionTriggers is asked, from a history."""

from dataclasses import replace

import pytest
from compression_kit import COMPACTED, session_of, tool_call
from hypothesis import given
from hypothesis import strategies as st

from policyengine.compression.history import entries
from policyengine.compression.trial import Trials
from policyengine.compression.triggers import Watch, asked, facts, task_boundary
from policyengine.sessions.model import Turn


def read(path, id, size=4_000):
    return tool_call("Read", {"file_path": path}, "x" * size, id=id)


def edit(path, id):
    return tool_call("Edit", {"file_path": path, "old_string": "1", "new_string": "2"}, id=id)


COMMIT = ("git commit -am 'done'", "c")


def about(compressor, session, **given):
    history, index = entries(session), compressor.indexer.of(session)
    return facts(compressor, history, index, window=200_000, tokens=given.get("tokens", 1_000))


def test_a_reading_is_stale_once_its_file_was_touched_again(compressor):
    rounds = [((), [read("/w/a", "1")]), ((), [read("/w/b", "2")]), ((), [edit("/w/a", "3")])]
    found = about(compressor, session_of(*rounds, (["more"], []), (["more"], []), (["more"], [])))
    assert found["stale_tokens"] == 2_000
    assert found["span_tokens"] >= 4_000


TOUCHES = st.lists(st.tuples(st.sampled_from(["read", "edit"]), st.sampled_from("abc"), st.integers(1, 4)), max_size=12)


@given(touches=TOUCHES, outside=st.integers(0, 20))
def test_stale_is_what_was_touched_again_in_what_would_be_cut(touches, outside, compressor):
    """Looked at entry by entry, the facts are those of their definition over the whole history."""
    made = [
        read(f"/w/{path}", str(id), size * 100) if action == "read" else edit(f"/w/{path}", str(id))
        for id, (action, path, size) in enumerate(touches)
    ]
    history = entries(session_of(*(((), [call]) for call in made), (["more"], [])))
    kept = history[len(history) - min(outside, len(history)) :]
    watch = Watch(compressor)
    for entry in history:
        watch.entries([entry])
    found = watch.facts(kept, window=None, tokens=1)
    span = history[: len(history) - len(kept)]
    stale = [
        entry
        for entry in span
        if entry.role == "tool"
        and touches[int(entry.call_id)][0] == "read"
        and any(path == touches[int(entry.call_id)][1] for _, path, _ in touches[int(entry.call_id) + 1 :])
    ]
    assert found["stale_tokens"] == compressor.tokens(stale)
    assert found["span_tokens"] == compressor.tokens(span)


def test_messages_since_the_sign_of_an_end(compressor):
    session = session_of((["ok"], []), (["deploy this"], ["on it"], []), (["it"], []), prompt="fix it")
    assert about(compressor, session)["messages_since_ending"] == 2
    assert about(compressor, session_of((["ok"], []), prompt="fix it"))["messages_since_ending"] is None


def test_an_injected_message_is_no_prompt(compressor):
    session = session_of((["ok"], []), (["<system-reminder>deploy this</system-reminder>"], ["on it"], []))
    found = about(compressor, session)
    assert (found["prompt"], found["messages_since_ending"]) == ("fix the parser", None)


@pytest.mark.parametrize(
    ("calls", "boundary"),
    [
        ([[edit("/w/a", "1")], [tool_call("Bash", {"command": COMMIT[0]}, id="2")]], True),
        ([[edit("/w/a", "1")], [tool_call("Bash", {"command": COMMIT[0]}, id="2")], [edit("/w/a", "3")]], False),
        ([[edit("/w/a", "1")]], False),
        ([[tool_call("update_plan", {"plan": [{"step": "s", "status": "pending"}]})],
          [tool_call("Bash", {"command": COMMIT[0]}, id="2")]], False),
    ],
)  # fmt: skip
def test_a_task_ends_with_a_commit_and_nothing_open(calls, boundary, indexer):
    assert task_boundary(indexer.of(session_of(*(((), row) for row in calls)))) is boundary


def test_turns_count_from_the_last_summary(compressor):
    session = session_of((["a"], []), (["next"], ["b"], []), (["c"], []))
    rounds = tuple(replace(item, turn=number) for number, item in enumerate(session.rounds, start=1))
    turns = tuple(Turn(number, "p") for number in (1, 2, 3))
    history = entries(replace(session, rounds=rounds, turns=turns))
    index = compressor.indexer.of(session)
    assert facts(compressor, history, index, window=None, tokens=1)["turns_since_summary"] == 3
    marked = (replace(history[0], summary=True), *history[1:])
    after_second = tuple(replace(e, summary=e.number == 3) for e in marked)
    assert facts(compressor, after_second, index, window=None, tokens=1)["turns_since_summary"] == 2


def test_an_unknown_window_has_no_tier(compressor):
    session = session_of((["a"], []))
    made = asked(compressor, entries(session), compressor.indexer.of(session), window=None)
    assert made.input["tier"] == "none"
    assert made.decision.outcome["compress"] is False


@pytest.mark.parametrize("name", COMPACTED)
def test_where_the_recorded_product_compacted(name, real_session, compressor):
    made = Trials(compressor, real_session(name)).trigger()
    assert not made.decision.errors
    assert made.input["span_tokens"] > 40_000
    assert 0 < made.input["stale_tokens"] < made.input["span_tokens"]
