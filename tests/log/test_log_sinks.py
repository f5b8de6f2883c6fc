"""Sinks: rotation, going on after a restart, torn lines, one writer a file, SQLite, OpenTelemetry."""

import json
import os
import sqlite3
import time

import pytest

from policyengine.log.chain import body
from policyengine.log.check import check
from policyengine.log.read import log_files, records
from policyengine.log.sinks import Item, JsonlSink
from policyengine.log.sinks.sqlite import SqliteSink
from policyengine.source.errors import InputError


def items(*numbers):
    found = [{"kind": "Tips", "policy": "tips", "policy_version": "1.0.0", "round": n} for n in numbers]
    return [Item(record, body(record)) for record in found]


def kinds(checked):
    return [(problem.line, problem.kind) for problem in checked.problems]


def test_a_log_goes_on_where_it_ended(tmp_path, lines):
    path = tmp_path / "log.jsonl"
    for numbers in ((1, 2), (3,), (), (4, 5)):
        with JsonlSink(path) as sink:
            sink.write_many(items(*numbers))
    found = lines(path)
    assert [record["seq"] for record in found] == [1, 2, 3, 4, 5]
    assert [record["seq"] for record in found if "chain_from" in record] == [1, 3, 4]
    assert check([path]).problems == []


def test_files_are_set_aside_by_size_and_the_chain_goes_through_them(tmp_path, lines):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path, rotate_bytes=1000) as sink:
        for start in range(0, 60, 6):
            sink.write_many(items(*range(start, start + 6)))
    files = log_files([tmp_path])
    assert len(files) > 5
    assert files[-1] == path
    assert files[0].name == "log.000001.jsonl"
    assert all(file.stat().st_size <= 1200 for file in files)
    assert [record["round"] for file in files for record in records(file)] == list(range(60))
    checked = check(files)
    assert checked.problems == []
    assert checked.records == checked.last_seq == 60
    files[2].unlink()
    (gap,) = check(log_files([tmp_path])).problems
    assert gap.kind == "gap"
    assert "are missing" in gap.message


def test_files_are_set_aside_when_a_period_is_over(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    now = 1_000_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    with JsonlSink(path, rotate_seconds=100) as sink:
        sink.write_many(items(1))
        sink.write_many(items(2))
        now += 100
        sink.write_many(items(3))
    assert [len(list(records(file))) for file in log_files([tmp_path])] == [2, 1]
    # Also where the process that wrote last is another one.
    os.utime(path, (now - 500, now - 500))
    with JsonlSink(path, rotate_seconds=100) as sink:
        sink.write_many(items(4))
    assert [len(list(records(file))) for file in log_files([tmp_path])] == [2, 1, 1]
    assert check(log_files([tmp_path])).problems == []


@pytest.mark.parametrize("cut", [1, 10, 76, 200, 400])
def test_a_torn_line_is_ended_and_the_log_goes_on(tmp_path, cut):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path) as sink:
        sink.write_many(items(1, 2, 3))
    whole = path.read_bytes()
    cut = min(cut, len(whole.splitlines()[-1]))
    path.write_bytes(whole[:-cut])
    torn = check([path])
    assert [(p.line, p.kind) for p in torn.problems] == [(3, "torn")]
    with JsonlSink(path) as sink:
        sink.write_many(items(4, 5))
    rounds = [record["round"] for record in records(path)]
    assert rounds == ([1, 2, 3, 4, 5] if cut == 1 else [1, 2, 4, 5])
    after = check([path])
    assert kinds(after) == ([] if cut == 1 else [(3, "torn")])


EDITS = {
    "an edited value": (lambda lines: lines[2:3].__setitem__(0, 0) or edit(lines, 2), [(3, "edited")]),
    "a removed line": (lambda lines: lines.pop(2), [(3, "gap")]),
    "two removed lines": (lambda lines: (lines.pop(1), lines.pop(1)), [(2, "gap")]),
    "a removed first line": (lambda lines: lines.pop(0), [(1, "gap")]),
    "a line twice": (lambda lines: lines.insert(2, lines[2]), [(4, "gap")]),
    "lines exchanged": (lambda lines: lines.insert(1, lines.pop(2)), [(2, "gap"), (3, "gap"), (4, "gap")]),
    "a line of words": (lambda lines: lines.insert(2, b"hello\n"), [(3, "torn")]),
    "a foreign record": (lambda lines: lines.insert(2, b'{"kind":"Tips","policy":"tips"}\n'), [(3, "unchained")]),
}


def edit(lines, at):
    lines[at] = lines[at].replace(b'"round":2', b'"round":9')


@pytest.mark.parametrize("name", EDITS)
def test_check_finds_what_was_done_to_a_log_and_where(tmp_path, run, name):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path) as sink:
        sink.write_many(items(*range(5)))
    change, expected = EDITS[name]
    changed = path.read_bytes().splitlines(keepends=True)
    change(changed)
    path.write_bytes(b"".join(changed))
    assert kinds(check([path])) == expected
    found = run("log", "check", path)
    assert found.status == 1
    assert f"{path}:{expected[0][0]}: {expected[0][1]}" in found.out


def test_a_cut_off_end_is_found_with_the_last_chain_value(tmp_path, run):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path) as sink:
        sink.write_many(items(*range(5)))
    last = run("log", "check", path, "--format", "json").json["last_chain"]
    assert run("log", "check", path, "--ends-with", last).status == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert run("log", "check", path).status == 0
    assert run("log", "check", path, "--ends-with", last).status == 1


def test_losses_are_said_by_the_next_record_and_are_no_gap(tmp_path, run, lines):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path) as sink:
        sink.write_many(items(1))
        sink.lost(3)
        sink.lost(2)
        sink.write_many(items(2, 3))
    assert [(record["seq"], record.get("dropped")) for record in lines(path)] == [(1, None), (7, 5), (8, None)]
    found = run("log", "check", path, "--format", "json")
    assert found.status == 0
    assert found.json["dropped"] == 5
    assert run("log", "stats", path, "--format", "json").json["dropped"] == 5


def test_one_writer_a_file(tmp_path):
    with JsonlSink(tmp_path / "log.jsonl"), pytest.raises(InputError, match="another process writes"):
        JsonlSink(tmp_path / "log.jsonl")


def test_sqlite_holds_the_same_lines_and_others_read_while_it_is_written(tmp_path, run):
    path = tmp_path / "log.sqlite"
    for numbers in ((1, 2), (3,)):
        sink = SqliteSink(path)
        sink.write_many(items(*numbers))
        with sqlite3.connect(path) as reader:
            assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert reader.execute("SELECT max(seq) FROM records").fetchone() == (numbers[-1],)
        sink.close()
    assert [record["round"] for record in records(path)] == [1, 2, 3]
    assert run("log", "check", path).status == 0
    with sqlite3.connect(path) as database:
        database.execute("UPDATE records SET record = replace(record, '\"round\":2', '\"round\":8')")
    assert run("log", "check", path).out.startswith(f"{path}:2: edited")


def test_records_go_to_opentelemetry(made, bundle):
    pytest.importorskip("opentelemetry.sdk._logs", reason="the extra otel is not installed")
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

    from policyengine.log.record import Recorder
    from policyengine.log.sinks.otel import OtelSink

    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    sink = OtelSink(provider)
    record = Recorder(bundle).record(made("routing", prompt="fix it"), session_id="s")
    sink.lost(2)
    sink.write_many([Item(record, body(record))])
    (found,) = exporter.get_finished_logs()
    attributes = found.log_record.attributes
    assert attributes["policyengine.veto_reason"] == "further_action"
    assert attributes["policyengine.dropped"] == 2
    assert json.loads(found.log_record.body)["input"]["prompt"].startswith("sha256:")
    sink.close()
