"""Facts about real sessions, which stand beside the repository and not in it."""

import time
import tracemalloc

import pytest

from policyengine.sessions import read

FACTS = {
    "claude-code-auto-compact.jsonl": ("claude-code", "claude-opus-4-6", None, 152, 4, [(103, "auto", 167094)]),
    "claude-code-manual-compact.jsonl": (
        "claude-code",
        "claude-opus-4-6",
        None,
        217,
        2,
        [(139, "manual", 142431)],
    ),
    "claude-code-short.jsonl": ("claude-code", "claude-opus-4-6", None, 1, 1, []),
    "codex-one-turn.jsonl": ("codex", "gpt-5.3-codex", 258400, 28, 1, []),
    "codex-seven-turns.jsonl": ("codex", "gpt-5.3-codex", 258400, 83, 7, []),
}


@pytest.mark.parametrize("name", sorted(FACTS))
def test_rounds_turns_and_compactions(name, shared_session):
    session = read(shared_session(name))
    assert (
        session.format,
        session.model,
        session.window,
        len(session.rounds),
        len(session.turns),
        [(item.round, item.trigger, item.tokens) for item in session.recorded_compactions],
    ) == FACTS[name]
    assert all(item.usage is not None for item in session.rounds)


def test_prompt_size_at_the_automatic_compaction(shared_session):
    session = read(shared_session("claude-code-auto-compact.jsonl"))
    (compaction,) = session.recorded_compactions
    usage = session.rounds[compaction.round - 2].usage
    assert usage.input + usage.cache_read + usage.cache_write + usage.output == 167_060
    # The product counted bytes / 4 for what waited to be sent.
    assert usage.input + usage.cache_read + usage.cache_write + usage.output + sum(
        part.bytes // 4 for part in compaction.pending
    ) == pytest.approx(compaction.tokens, abs=1)
    after = session.rounds[compaction.round - 1]
    assert (after.context, after.is_continuation) == (1, True)
    assert after.added[0].text.startswith("This session is being continued")


def test_messages_typed_while_tools_ran_are_sent_with_the_next_round(shared_session):
    session = read(shared_session("claude-code-auto-compact.jsonl"))
    texts = [part.text for item in session.rounds if item.is_continuation for part in item.added]
    assert "check again" in texts
    assert [turn.kind for turn in session.turns] == ["interactive", "notification", "notification", "interactive"]


def test_two_models(shared_session):
    session = read(shared_session("claude-code-manual-compact.jsonl"))
    assert {item.model for item in session.rounds} == {"claude-opus-4-6", "claude-haiku-4-5-20251001"}


@pytest.mark.parametrize("name", ["codex-one-turn.jsonl", "codex-seven-turns.jsonl"])
def test_codex_counts_once_and_cached_is_inside_input(name, shared_session):
    session = read(shared_session(name))
    assert all(item.usage.cache_read <= item.usage.input for item in session.rounds)
    assert all(item.usage.cache_write is None for item in session.rounds)
    assert all(turn.prompt == "" and turn.prompt_redacted for turn in session.turns)
    assert session.skipped["repeated token_count"] == len(session.rounds) - 1


def test_reading_is_quick_and_small(shared_session):
    path = shared_session("claude-code-auto-compact.jsonl")
    start = time.perf_counter()
    read(path)
    assert time.perf_counter() - start < 1
    tracemalloc.start()
    read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000
