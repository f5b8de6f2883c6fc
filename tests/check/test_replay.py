"""Replay: counts between rounds, on transcripts that lack what others have."""

import json

import pytest

from policyengine.check.replay import Options, replay
from policyengine.check.replay_totals import routing_totals
from policyengine.kinds.bundle import load
from policyengine.kinds.loop import Loop
from policyengine.sessions.reading import read_text

PROMPT = {"role": "user", "content": "what is in the files?"}


@pytest.fixture(scope="module")
def loop():
    return Loop(load())


def answer(number, prompt_tokens, *, last=False):
    """A round of a message list: a call of a tool, or a closing text; without a count where that is None."""
    block = (
        {"type": "text", "text": "done"}
        if last
        else {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/{number}"}}
    )
    message = {"role": "assistant", "id": f"m{number}", "model": "claude-sonnet-4-5", "content": [block]}
    if prompt_tokens is not None:
        message["usage"] = {"input_tokens": prompt_tokens, "output_tokens": 50}
    return message


def result(number, size):
    content = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * size}]
    return {"role": "user", "content": content}


def replayed(loop, messages, **options):
    return replay(read_text("\n".join(map(json.dumps, messages))), loop, Options(**options))


def test_a_round_without_a_count_never_lowers_the_next(loop):
    """The last count stays, and what came since is estimated: the history alone lacks system text and tools."""
    messages = [
        PROMPT, answer(1, 160_000), result(1, 4_000), answer(2, None), result(2, 8_000), answer(3, None),
        result(3, 8_000), answer(4, 171_000, last=True),
    ]  # fmt: skip
    rows = replayed(loop, messages, window=200_000).rounds
    counts = [row.tokens for row in rows]
    assert [row.tokens_source for row in rows] == ["estimate", "usage", "usage", "usage"]
    assert counts[1] == 160_050 + 2_000
    assert counts[1] + 4_000 < counts[2] < counts[1] + 4_100
    assert counts[2] + 4_000 < counts[3] < counts[2] + 4_100
    assert [row.before.tier for row in rows] == ["none", "warn", "warn", "auto"]


def test_without_any_count_the_whole_history_is_estimated(loop):
    rows = replayed(
        loop, [PROMPT, answer(1, None), result(1, 4_000), answer(2, None), result(2, 4_000), answer(3, None)]
    )
    counts = [row.tokens for row in rows.rounds]
    assert {row.tokens_source for row in rows.rounds} == {"estimate"}
    assert 2_000 < counts[1] < 2_100
    assert 4_000 < counts[2] < 4_100


def test_a_round_on_the_primary_model_without_a_veto_says_why(loop):
    one = replayed(
        loop, [PROMPT, answer(1, 1_000), result(1, 40), answer(2, 1_100, last=True)], strategy="always_primary"
    )
    totals = routing_totals([one])
    assert (totals["primary"], totals["vetoes"], totals["without_veto"]) == (1, {}, {"always_primary": 1})
