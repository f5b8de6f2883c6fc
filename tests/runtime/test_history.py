"""What must always be true of a history, over histories and changes made at random."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from policyengine.compression.cut import split
from policyengine.runtime.history import (
    History,
    HistoryError,
    calls_of,
    for_provider,
    problems,
    repaired,
    results_of,
    summary_role,
)
from policyengine.runtime.message_json import as_json, from_json
from policyengine.runtime.messages import Block, Call, Image, Message, Result, Text, Thinking

IDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXT = st.builds(Text, st.text(min_size=1, max_size=5))
IMAGE = st.builds(Image, st.just("image/png"), st.just("AAAA"))
CALL = st.builds(Call, IDS, st.just("look"), st.dictionaries(st.just("what"), st.text(max_size=3), max_size=1))
RESULT = st.builds(Result, IDS, st.just("look"), st.tuples(TEXT), st.booleans(), st.booleans())
THINKING = st.builds(Thinking, st.sampled_from(["m1", "m2"]), st.just("anthropic"), st.just({"signature": "s"}))
BLOCKS = st.one_of(TEXT, IMAGE, CALL, RESULT, THINKING)
ANYTHING = st.lists(
    st.builds(
        Message,
        st.sampled_from(["user", "assistant", "tool"]),
        st.lists(BLOCKS, max_size=4).map(tuple),
        st.sampled_from([None, "p1", "p2"]),
        st.booleans(),
    ),
    max_size=10,
)


@example([Message("assistant", tuple(Call(i, "look", {}) for i in ("c", "a", "c")))], "answer_cancelled", "drop")
@given(ANYTHING, st.sampled_from(["answer_cancelled", "drop"]), st.sampled_from(["drop", "keep"]))
def test_any_history_can_be_repaired(messages: list[Message], call: str, result: str) -> None:
    fixed, done = repaired(messages, orphan_call=call, orphan_result=result, cancelled="gone")  # type: ignore[arg-type]
    assert problems(fixed) == []
    assert done.changed or fixed == messages or problems(messages)
    again, nothing = repaired(fixed, orphan_call=call, orphan_result=result, cancelled="gone")  # type: ignore[arg-type]
    assert again == fixed
    assert not nothing.changed


@given(ANYTHING)
def test_a_repair_loses_no_text_of_a_person_and_no_answer(messages: list[Message]) -> None:
    fixed, _ = repaired(messages, orphan_call="answer_cancelled", orphan_result="keep", cancelled="gone")
    seen: set[str] = set()
    for message in messages:
        if message.role == "tool" or (message.role == "user" and message.prompt_id in seen):
            continue
        if message.role == "user" and message.prompt_id:
            seen.add(message.prompt_id)
        for block in message.blocks:
            if isinstance(block, Text):
                assert any(block in kept.blocks for kept in fixed)


def test_a_valid_history_is_not_touched_by_a_repair() -> None:
    messages = _history(random.Random(7), 30).messages
    fixed, done = repaired(messages, orphan_call="drop", orphan_result="drop", cancelled="gone")
    assert tuple(fixed) == messages
    assert not done.changed


def _history(chance: random.Random, steps: int) -> History:
    """A history by valid changes in a random order; every state on the way is valid."""
    history = History()
    for step in range(steps):
        match chance.randrange(5):
            case 0:
                history.push_user([Text(f"q{step}")], f"p{chance.randrange(steps)}")
            case 1:
                blocks: list[Block] = [Text("t")] if chance.random() < 0.5 else []
                blocks += [Call(f"c{chance.randrange(3)}", "look", {}) for _ in range(chance.randrange(4))]
                history.push_answer(blocks, "p", "interrupted")
            case 2:
                waiting = [r for m in history.messages for r in results_of(m)]
                if waiting:
                    one = chance.choice(waiting)
                    assert history.settle(Result(one.call_id, one.name, (Text("out"),)))
            case 3:
                messages = history.messages
                cut = split([m.role for m in messages], lambda _: 1, chance.randrange(5))
                if cut:
                    role = summary_role(None, messages[cut] if cut < len(messages) else None)
                    history.compact(Message(role, (Text("sum"),), summary=True), messages[cut:])
            case _:
                assert not history.settle(Result("nobody", "look", (Text("out"),)))
        assert problems(history.messages) == [], step
    return history


@given(st.integers(0, 10_000))
def test_every_change_leaves_a_valid_history(seed: int) -> None:
    _history(random.Random(seed), 25)


@given(st.integers(0, 10_000), st.sampled_from(["inject_empty_assistant", "tolerate"]))
def test_a_provider_gets_alternating_roles_and_whole_pairs(seed: int, gap: str) -> None:
    history = _history(random.Random(seed), 25)
    ready = for_provider(history.messages, provider="anthropic", model="m1", gap=gap, empty_assistant="(none)")
    for before, after in pairwise(ready):
        assert before.role == "tool" or before.role != after.role or calls_of(before)
        if calls_of(before):
            assert [r.call_id for r in results_of(after)] == [c.id for c in calls_of(before)]
        if gap == "inject_empty_assistant":
            assert not (before.role == "tool" and after.role == "user")
    sent = [b for m in ready for b in m.blocks if not (isinstance(b, Text) and b.text == "(none)")]
    assert sent == [b for m in history.messages for b in m.blocks]


@given(st.integers(0, 10_000), st.integers(0, 30), st.integers(0, 3))
def test_a_cut_never_parts_a_call_from_its_result(seed: int, keep: int, last: int) -> None:
    messages = _history(random.Random(seed), 25).messages
    last = min(last, len(messages))
    cut = split([m.role for m in messages], lambda _: 2, keep, last)
    assert cut <= len(messages) - last
    assert cut == len(messages) or messages[cut].role != "tool"
    kept = messages[cut:]
    assert problems(kept) == []


@given(ANYTHING)
def test_messages_survive_json(messages: list[Message]) -> None:
    for message in messages:
        if all(isinstance(b, Result) for b in message.blocks) or message.role != "tool":
            assert from_json(as_json(message)) == message


def test_thinking_stays_byte_for_byte_for_its_model_and_is_dropped_for_another() -> None:
    """R40."""
    raw = {"type": "thinking", "thinking": "…", "signature": "abc=="}
    message = Message("assistant", (Thinking("m1", "anthropic", raw), Text("hi")), "p")
    history = [Message("user", (Text("q"),), "p"), message, Message("user", (Text("r"),), "p2")]

    def sent(model: str, provider: str = "anthropic") -> Message:
        return for_provider(history, provider=provider, model=model, gap="tolerate", empty_assistant="")[1]

    assert sent("m1") is message
    assert sent("m2").blocks == (Text("hi"),)
    assert sent("m1", "openai").blocks == (Text("hi"),)


def test_ids_that_a_server_counts_from_zero_are_made_unique() -> None:
    history = History()
    history.push_user([Text("q")], "p")
    first = history.push_answer([Call("call_0", "look", {}), Call("call_0", "look", {})], "p", "…")
    second = history.push_answer([Call("call_0", "look", {}), Call("", "look", {})], "p", "…")
    assert first is not None
    assert second is not None
    assert [c.id for c in (*calls_of(first), *calls_of(second))] == ["call_0", "call_0~2", "call_0~3", "call"]
    assert problems(history.messages) == []


def test_a_prompt_is_pushed_once_however_often_it_is_sent() -> None:
    history = History()
    assert history.push_user([Text("q")], "p")
    assert not history.push_user([Text("q")], "p")
    assert len(history) == 1


def test_what_would_break_the_history_is_refused_and_changes_nothing() -> None:
    history = _history(random.Random(3), 20)
    before = history.messages
    with pytest.raises(HistoryError):
        history.compact(Message("user", (Text("s"),)), [Message("user", (Text("not there"),))])
    with pytest.raises(HistoryError):
        history.compact(Message("user", ()), before[len(before) :])
    with pytest.raises(HistoryError):
        History([Message("tool", (Result("x", "look", ()),))])
    assert history.messages == before
