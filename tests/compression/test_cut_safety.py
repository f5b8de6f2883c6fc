"""Cuts: never inside a call and its result, never losing an entry."""

from compression_kit import entry, session_of, tool_call
from hypothesis import given, settings
from hypothesis import strategies as st

from policyengine.compression.cut import Keep, cut, safe_points
from policyengine.compression.history import entries
from tests.conftest import examples


@st.composite
def histories(draw):
    """Rounds of calls whose results come at once, later, twice, never, or without a call; ids may come again."""
    made, number, open_calls = [], 0, []
    turn = 0

    def add(*args, **about):
        nonlocal number
        number += 1
        made.append(entry(number, *args, **about))

    for round in range(1, draw(st.integers(1, 12)) + 1):
        if round == 1 or draw(st.integers(0, 3)) == 0:
            turn += 1
            add("user", "x" * draw(st.integers(1, 50)), round=round, turn=turn, summary=draw(st.integers(0, 5)) == 0)
        if draw(st.integers(0, 9)) == 0:
            add("tool", "orphan", kind="tool_result", call_id="nobody", round=round, turn=turn)
        if draw(st.booleans()):
            add("assistant", "says", round=round, turn=turn)
        for _ in range(draw(st.integers(0, 3))):
            id = f"c{draw(st.integers(0, 6))}"
            add("assistant", "{}", kind="tool_call", call_id=id, round=round, turn=turn)
            open_calls.append(id)
        for id in list(open_calls):
            if draw(st.integers(0, 3)):
                add("tool", "r" * draw(st.integers(0, 40)), kind="tool_result", call_id=id, round=round + 1, turn=turn)
                open_calls.remove(id)
    return made


KEEPS = st.builds(Keep, st.integers(0, 3), st.integers(0, 4), st.floats(0, 1))


@settings(max_examples=examples(120))
@given(histories(), KEEPS)
def test_every_kept_result_has_its_kept_call_and_nothing_is_lost(history, keep):
    found = cut(history, keep)
    if found is None:
        return
    parts = [*found.pinned, *found.standing, *found.span, *found.kept]
    assert sorted(item.number for item in parts) == [item.number for item in history]
    assert found.span
    assert list(found.kept) == history[len(history) - len(found.kept) :]
    removed = {item.number for item in (*found.pinned, *found.standing, *found.span)}
    latest = {}
    for item in history:
        if item.kind == "tool_call":
            latest[item.call_id] = item
        elif item.role == "tool" and item.call_id in latest:
            # A call and its result are on the same side.
            assert (latest[item.call_id].number in removed) == (item.number in removed)


@given(histories())
def test_a_call_that_waits_is_never_cut_from_the_end(history):
    answered = {item.call_id for item in history if item.role == "tool"}
    last = max((item.round for item in history if item.role == "assistant"), default=None)
    waiting = [
        index
        for index, item in enumerate(history)
        if item.kind == "tool_call" and item.round == last and item.call_id not in answered
    ]
    for point in safe_points(history):
        assert all(index >= point for index in waiting)


def test_the_task_statement_and_the_last_rounds_stay():
    rounds = [((), [tool_call("Read", {"file_path": f"/w/{n}"}, "x" * 100, id=str(n))]) for n in range(10)]
    history = entries(session_of(*rounds, prompt="the task"))
    found = cut(history, Keep(turns=2, min_rounds=3, max_share=0.1))
    assert [item.text for item in found.pinned] == ["the task"]
    assert {item.round for item in found.kept if item.role == "assistant"} == {8, 9, 10}
    assert found.kept[0].call is not None


def test_a_summary_is_not_summarised_again():
    history = [
        entry(1, "user", "summary of before", round=1, summary=True),
        entry(2, "assistant", "a", round=1),
        entry(3, "user", "b", round=2, turn=2),
        entry(4, "assistant", "c", round=2, turn=2),
    ]
    found = cut(history, Keep(1, 1, 1.0))
    assert [item.number for item in found.standing] == [1]
    assert [item.number for item in found.span] == [2]
    assert not found.pinned


def test_results_of_a_batch_are_not_parted():
    history = [
        entry(1, "user", "go"),
        entry(2, "assistant", "{}", "tool_call", call_id="a"),
        entry(3, "assistant", "{}", "tool_call", call_id="b"),
        entry(4, "tool", "ra", "tool_result", call_id="a", round=2),
        entry(5, "tool", "rb", "tool_result", call_id="b", round=2),
        entry(6, "assistant", "done", round=2),
    ]
    assert safe_points(history) == [1, 5, 6]
