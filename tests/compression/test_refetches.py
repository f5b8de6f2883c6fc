"""Re-fetches: the recorded sessions' figures, and each rule of counting alone."""

import pytest
from compression_kit import session_of, text_part, tool_call

from policyengine.check.replay import Options, replay
from policyengine.check.replay_totals import refetch_totals
from policyengine.compression.refetch import refetches
from policyengine.sessions.model import RecordedCompaction

FIGURES = {
    # known files, readings after, re-fetched, changed before, edited next, named by the recorded summary, tokens
    "claude-code-auto-compact.jsonl": (25, 13, 4, 4, 3, 4, 7_767),
    "claude-code-manual-compact.jsonl": (16, 11, 5, 5, 4, 5, 4_412),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_recorded_sessions(name, real_session, compressor):
    (found,) = refetches(real_session(name), compressor)
    figures = (
        found.known, found.reads_after, len(found.files), found.changed, found.edited, found.named, found.tokens,
    )  # fmt: skip
    assert figures == FIGURES[name]


@pytest.mark.parametrize("name", FIGURES)
def test_independently_from_the_calls(name, real_session, compressor):
    session = real_session(name)
    at = session.recorded_compactions[0].round
    touched = {
        call.arguments["file_path"]
        for item in session.rounds[: at - 1]
        for call in item.calls
        if call.name in ("Read", "Edit", "Write") and not call.result.error
    }
    again = {
        call.arguments["file_path"]
        for item in session.rounds[at - 1 :]
        for call in item.calls
        if call.name == "Read" and not call.result.error and call.arguments["file_path"] in touched
    }
    (found,) = refetches(session, compressor)
    assert {read.path for read in found.files} == again


def read(path, text="x" * 100, id=None):
    return tool_call("Read", {"file_path": path}, text, id=id or path)


def edit(path):
    return tool_call("Edit", {"file_path": path, "old_string": "1", "new_string": "2"}, id=f"e{path}")


def compacted(before, after, summary="The summary names a.py."):
    rounds = [((), [call]) for call in before]
    first, *rest = after
    session = session_of(*rounds, ([summary], (), [first]), *(((), [call]) for call in rest))
    return session, RecordedCompaction(len(before) + 1, "auto", 1000, 0)


def count(compressor, before, after, **about):
    from dataclasses import replace

    session, compaction = compacted(before, after, **about)
    # The summary stands where the results were: a real file has nothing else in that send.
    rounds = list(session.rounds)
    rounds[len(before)] = replace(rounds[len(before)], added=(text_part(about.get("summary", "a.py was changed")),))
    (found,) = refetches(replace(session, rounds=tuple(rounds), recorded_compactions=(compaction,)), compressor)
    return found


def test_only_the_first_reading_of_a_known_file_counts(compressor):
    found = count(compressor, [read("/w/a.py"), edit("/w/a.py")], [read("/w/a.py"), read("/w/a.py"), read("/w/new.py")])
    assert (found.known, found.reads_after, [row.path for row in found.files]) == (1, 3, ["/w/a.py"])
    assert (found.changed, found.edited, found.named) == (1, 0, 1)
    assert found.rate == 1.0
    assert found.share == pytest.approx(1 / 3)


def test_a_reading_by_the_shell_counts_too(compressor):
    found = count(compressor, [read("/w/a.py")], [tool_call("Bash", {"command": "cat /w/a.py"})])
    assert len(found.files) == 1


def test_a_failed_reading_does_not(compressor):
    failed = tool_call("Read", {"file_path": "/w/a.py"}, "gone", error=True)
    assert not count(compressor, [read("/w/a.py")], [failed]).files


def test_what_happens_without_a_compaction_stands_beside(compressor):
    found = count(compressor, [read("/w/a.py", id="1"), read("/w/a.py", id="2")], [read("/w/b.py")])
    assert found.repeat_share == 0.5
    assert found.rate == 0.0


def test_a_file_that_no_summary_names_has_to_be_searched(compressor):
    glob = tool_call("Glob", {"pattern": "*.py"}, "y" * 400)
    found = count(compressor, [glob, read("/w/a.py")], [read("/w/a.py")])
    ways = {row.way: row for row in found.estimates}
    assert ways["recorded"].search_tokens == 0
    assert ways["no summary"].search_tokens == 200
    assert ways["recorded"].fetch_tokens == ways["no summary"].fetch_tokens == found.tokens


def test_replay_carries_them(real_session, loop):
    one = replay(real_session("claude-code-auto-compact.jsonl"), loop, Options())
    assert refetch_totals([one]) == {
        "compactions": 1, "known_files": 25, "refetched_files": 4, "rate": 0.16, "tokens": 7_767,
    }  # fmt: skip


def test_a_session_without_compactions_has_none(compressor):
    assert refetches(session_of(((), [read("/w/a.py")])), compressor) == []
