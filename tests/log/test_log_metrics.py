"""Metrics are exact: equal to an independent computation, however the log is stored."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from random_log import independent, random_records, write

from policyengine.log import scan
from policyengine.log.metrics.definitions import METRICS
from policyengine.log.metrics.statistics import wilson
from policyengine.log.scan import shards
from policyengine.log.sinks.sqlite import SqliteSink
from policyengine.source.schema import load_schema

ROOT = Path(__file__).parents[2]


def assert_equal(found, expected):
    for name in ("records", "dropped", "errors", "rounds", "days"):
        assert (name, found[name]) == (name, expected[name])
    assert set(found["metrics"]) == set(expected["metrics"])
    for name, (value, n, low, high) in expected["metrics"].items():
        one = found["metrics"][name]
        assert (name, one["n"]) == (name, n)
        assert (name, one["value"]) == (name, value)
        # Intervals go through two formulas that round differently in the last places.
        assert (name, one["low"]) == (name, low if low is None else pytest.approx(low, rel=1e-9, abs=1e-12))
        assert (name, one["high"]) == (name, high if high is None else pytest.approx(high, rel=1e-9))


def stats(run, *args):
    return run("log", "stats", *args, "--format", "json").json


def keep(log, part, wanted):
    """The lines of a log whose record is wanted, in another file."""
    lines = log.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(line for line in lines if wanted(json.loads(line))))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("random") / "log.jsonl"
    write(path, random_records(1, sessions=80), lost=3)
    return path


def test_metrics_equal_an_independent_computation(run, log):
    assert_equal(stats(run, log), independent(log))


def test_metrics_are_the_same_however_the_log_is_stored(run, log, tmp_path):
    """Lines that no sink wrote so (sorted keys, spaces) are counted in another way, to the same result."""
    expected = stats(run, log)
    lines = log.read_bytes().splitlines(keepends=True)
    other = tmp_path / "sorted.jsonl"
    other.write_text("".join(json.dumps(json.loads(line), sort_keys=True) + "\n" for line in lines), encoding="utf-8")
    assert stats(run, other) == expected
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(4):
        (parts / f"{number}.jsonl").write_bytes(b"".join(lines[number * 1000 : (number + 1) * 1000]))
    assert len(lines) < 4000
    assert stats(run, parts) == expected
    assert stats(run, log, "--until", "2100-01-01")["kinds"].keys() == expected["kinds"].keys()


def test_metrics_are_the_same_however_the_work_is_divided(run, log, monkeypatch):
    """Lines cross the ends of parts, and both records of a round lie in different ones."""
    expected = stats(run, log)
    for size in (500, 10_000, 1_000_000):
        monkeypatch.setattr(scan, "shards", partial(shards, size=size))
        assert stats(run, log) == expected


def test_metrics_of_a_pipe(run, log, tmp_path):
    for name in ("pipe", "pipe.jsonl"):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(log.read_bytes(),))
        writer.start()
        found = stats(run, pipe)
        writer.join()
        assert found == stats(run, log)
    for args in ((), (log,)):
        code = "from policyengine.commands import main; main()"
        command = [sys.executable, "-c", code, "log", "stats", "/dev/stdin", *map(str, args), "--format", "json"]
        found = json.loads(subprocess.run(command, input=log.read_bytes(), check=True, capture_output=True).stdout)
        assert found["records"] == stats(run, log)["records"] * (1 + len(args))


def test_rounds_without_a_session_are_not_put_together(run, tmp_path):
    rows = [{"kind": "Ladder", "seq": 1, "round": 1}, {"kind": "Routing", "seq": 1, "decision": "fast"}]
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert stats(run, tmp_path)["rounds"] == 4


def test_metrics_of_parquet_and_of_sqlite(run, log, tmp_path):
    expected = stats(run, log)
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet = tmp_path / "log.parquet"
    assert run("log", "export", "--to", "parquet", log, "-o", parquet).status == 0
    assert stats(run, parquet) == expected
    from policyengine.log.chain import body
    from policyengine.log.read import records
    from policyengine.log.sinks import Item

    sink = SqliteSink(tmp_path / "log.sqlite")
    for record in records(log):
        sink.lost(record.get("dropped", 0))
        sink.write_many([Item(record, body(record))])
    sink.close()
    assert stats(run, tmp_path / "log.sqlite") == expected


def test_torn_and_damaged_lines_are_counted_apart(run, log, tmp_path):
    lines = log.read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(
        b"".join(lines[:50]) + lines[50][:90] + b"\nhello\n" + b"".join(lines[51:100]) + lines[100][:40]
    )
    found = stats(run, damaged)
    assert (found["records"], found["unreadable"]) == (99, 3)


@pytest.mark.parametrize("by", ["veto", "policy", "kind", "day", "session", "model"])
def test_groups_add_up(run, log, by):
    found = stats(run, log, "--by", by)
    names = {"veto": "veto_reason", "session": "session_id", "model": "tier_actual"}
    rows = [json.loads(line) for line in log.open(encoding="utf-8")]
    counts = {}
    for row in rows:
        value = row.get("time", "")[:10] if by == "day" else row.get(names.get(by, by))
        if value:
            counts[value] = counts.get(value, 0) + 1
    assert {name: group["records"] for name, group in found["groups"].items()} == counts
    whole = stats(run, log)
    assert {name: found[name] for name in whole} == whole


@pytest.mark.parametrize("by", ["policy", "day"])
def test_each_group_equals_an_independent_computation_over_its_records(run, log, by, tmp_path):
    found = stats(run, log, "--by", by)["groups"]
    assert found
    for name, group in found.items():
        part = tmp_path / "part.jsonl"
        keep(log, part, lambda row, name=name: (row.get("time", "")[:10] if by == "day" else row["policy"]) == name)
        assert_equal(group, independent(part))


def test_a_filter_by_time_counts_only_what_lies_in_it(run, log, tmp_path):
    part = tmp_path / "part.jsonl"
    keep(log, part, lambda row: "2026-03-05" <= row.get("time", "") < "2026-03-07")
    found = stats(run, log, "--since", "2026-03-05", "--until", "2026-03-07T00:00")
    assert found["records"] > 100
    assert_equal(found, independent(part))
    assert run("log", "stats", log, "--since", "").status == 2
    assert run("log", "stats", log, "--since", "yesterday").status == 2


def test_the_text_shows_each_metric_with_its_sample_size(run, log):
    text = run("log", "stats", log).out
    found = stats(run, log)
    for metric in METRICS:
        (line,) = [line for line in text.splitlines() if line.startswith(f"{metric.name}  ")]
        assert line.endswith(f"  {metric.title}")
        assert f"{found['metrics'][metric.name]['n']:,}".replace(",", " ") in line


@pytest.mark.parametrize(
    ("cases", "n", "low", "high"),
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (5, 10, 0.23659, 0.76341), (15, 50, 0.19103, 0.43749)],
)
def test_wilson_intervals_equal_published_values(cases, n, low, high):
    assert wilson(cases, n) == (pytest.approx(low, abs=2e-5), pytest.approx(high, abs=2e-5))


def test_the_documentation_has_each_metric_with_its_formula():
    text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = {match[1]: match[2] for match in re.finditer(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE)}
    for metric in METRICS:
        assert metric.formula in rows[metric.name]
        assert metric.unit in rows[metric.name]


@pytest.mark.parametrize("kind", ["gate", "checkpoint", "stage"])
def test_gates_see_every_metric_by_its_name(kind):
    properties = load_schema(f"inputs/{kind}")["properties"]
    assert {metric.name for metric in METRICS} <= set(properties)


@pytest.mark.soak
def test_a_million_records_in_three_seconds(tmp_path):
    """As a person runs it, in a process of its own. On a machine that others use, its processor time counts."""
    import resource

    path = tmp_path / "log.jsonl"
    write(path, random_records(2, sessions=20_834), lost=1)
    code = "from policyengine.commands import main; main()"
    command = [sys.executable, "-c", code, "log", "stats", str(path), "--format", "json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"\n{found['records']} records in {took:.2f} s, {processor:.2f} s of processor time")
    assert found["records"] >= 1_000_000
    assert_equal(found, independent(path))
    assert min(took, processor / 2) < 3
