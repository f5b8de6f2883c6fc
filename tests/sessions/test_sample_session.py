"""The sample session is the script's output, and its counts agree with its texts."""

import itertools
import subprocess
import sys
from pathlib import Path

from policyengine.sessions import read
from policyengine.sessions.facts import unresolved_errors

EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = EXAMPLES / "sample-session.jsonl"
TOKENS = {"image": lambda part: 1600, "tool_result": lambda part: part.bytes / 2}


def prompt(item):
    return item.usage.input + item.usage.cache_read + item.usage.cache_write


def estimate(before, parts):
    added = sum(TOKENS.get(part.kind, lambda part: part.bytes / 4)(part) for part in parts)
    return prompt(before) + before.usage.output + added


def test_the_file_is_what_the_script_writes():
    made = subprocess.run(
        [sys.executable, EXAMPLES / "make_sample_session.py"], capture_output=True, check=True, encoding="utf-8"
    )
    assert SAMPLE.read_text(encoding="utf-8") == made.stdout
    assert SAMPLE.stat().st_size < 120_000


def test_it_compacts_once_where_the_estimate_reaches_the_threshold():
    session = read(SAMPLE)
    (compaction,) = session.recorded_compactions
    assert compaction.trigger == "auto"
    first = [item for item in session.rounds if item.context == 0]
    for before, item in itertools.pairwise(first):
        assert estimate(before, item.added) < 167_000
    assert 167_000 <= estimate(first[-1], compaction.pending) < 167_500
    assert compaction.round == first[-1].index + 1
    assert any(147_000 <= prompt(item) < 167_000 for item in first)


def test_usage_agrees_with_the_texts():
    session = read(SAMPLE)
    for before, item in zip(session.rounds, session.rounds[1:], strict=False):
        if before.context == item.context:
            assert abs(estimate(before, item.added) / prompt(item) - 1) < 0.05


def test_what_it_shows():
    session = read(SAMPLE)
    assert session.skipped == {}
    assert len(session.turns) == 5
    assert 25 <= len(session.rounds) <= 35
    assert any("读数" in turn.prompt for turn in session.turns)
    open_errors = [
        unresolved_errors(call for item in session.rounds[:upto] for call in item.calls)
        for upto in range(len(session.rounds) + 1)
    ]
    assert any(open_errors)
    assert not open_errors[-1]
