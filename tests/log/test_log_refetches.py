"""What was read again after a recorded compaction stands in the gate's record of a replay."""

from __future__ import annotations

import json

from policyengine.source.schema import load_schema, validate_input


def _gates(path):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return records, [record for record in records if record["kind"] == "CompactionGate"]


def test_a_replay_records_what_was_read_again(run, shared, tmp_path):
    session, log = shared("sessions/claude-code-auto-compact.jsonl"), tmp_path / "log.jsonl"
    found = run("replay", session, "--log", log, "--format", "json")
    assert found.status == 0
    records, gates = _gates(log)
    told = [record for record in records if "refetched_files" in record or "refetched_tokens" in record]
    assert [(record["refetched_files"], record["refetched_tokens"]) for record in told] == [(4, 7_767)]
    assert told[0] in gates
    assert validate_input({k: v for k, v in told[0].items() if k not in ("seq", "chain")}, load_schema("record")) == []


def test_a_round_without_a_recorded_compaction_says_nothing(sample_log):
    records, gates = _gates(sample_log)
    assert gates
    assert not any("refetched_files" in record for record in records)


def test_they_can_be_asked_for(run, shared, tmp_path):
    log = tmp_path / "log.jsonl"
    run("replay", shared("sessions/claude-code-auto-compact.jsonl"), "--log", log)
    query = "select count(*) as n, sum(refetched_files) as files from log where refetched_files is not null"
    found = run("log", "sql", query, log, "--format", "json")
    assert found.status == 0, found.err
    assert [row["files"] for row in found.json] == [4]
