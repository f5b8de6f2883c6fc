"""`log show`, `tail`, `unused`, `sql` and `export`, and recorded inputs decided again."""

import json
import shutil
import threading
import time

import pytest
from log_paths import SAMPLE

from policyengine.kinds.bundle import load
from policyengine.log.sinks import JsonlSink


def test_show_filters(run, sample_log, lines):
    every = lines(sample_log)
    found = run("log", "show", sample_log, "--kind", "Routing", "--veto", "write_tool", "--format", "json").json
    assert found == [record for record in every if record.get("veto_reason") == "write_tool"]
    found = run(
        "log", "show", sample_log, "--round", "6", "--policy", "routing", "--policy", "floor", "--format", "json"
    )
    assert [record["kind"] for record in found.json] == ["Routing", "Ladder"]
    text = run("log", "show", sample_log, "--decision", "fast", "--limit", "2")
    assert len(text.out.splitlines()) == 2
    assert text.err == "more records follow; --limit 2 stops here\n"
    assert "routing/fast" in text.out
    assert len(run("log", "show", sample_log, "--limit", "0", "--format", "jsonl").out.splitlines()) == len(every)


def test_tail_shows_the_end_and_follows_through_a_new_file(run, sample_log, tmp_path):
    from policyengine.log.follow import follow

    assert len(run("log", "tail", "-n", "3", sample_log).out.splitlines()) == 3
    path = tmp_path / "log.jsonl"
    record = {"kind": "Tips", "policy": "tips", "policy_version": "1.0.0", "rules": []}
    with JsonlSink(path, rotate_bytes=1000) as sink:
        sink.write({**record, "round": 0})
        collected = []

        def collect():
            for line in follow(path, 1, stop=lambda: len(collected) >= 20):
                collected.append(json.loads(line)["round"])

        reader = threading.Thread(target=collect, daemon=True)
        reader.start()
        while not collected:
            time.sleep(0.01)
        for number in range(1, 20):
            sink.write({**record, "round": number})
            time.sleep(0.02)
        deadline = time.monotonic() + 10
        while len(collected) < 20 and time.monotonic() < deadline:
            time.sleep(0.05)
    assert len(list(tmp_path.iterdir())) > 2
    assert collected == list(range(20))


def test_unused_rules(run, sample_log, lines, bundle):
    matched = {
        (r["policy"], rule["id"]) for r in lines(sample_log) for rule in r["rules"] if rule["status"] == "matched"
    }
    found = run("log", "unused", sample_log, "--format", "json")
    assert found.status == 1
    unused = {(one["policy"], one["rule"]) for one in found.json["unused"]}
    decided = {record["policy"] for record in lines(sample_log)}
    every = {(name, rule.id) for name in decided for rule in bundle.policy(name).table.rules}
    assert unused == every - matched
    assert set(found.json["policies_without_records"]).isdisjoint(decided)
    text = run("log", "unused", sample_log).out
    assert "routing/always_fast never matched in 21 decisions" in text


def test_unused_rules_of_inherited_policies_are_found_and_called_so(run, sample_log, tmp_path):
    own = tmp_path / "policies"
    assert run("init", own, "--only", "Tips").status == 0
    whole = run("log", "unused", sample_log, "--bundle", "built-in", "--format", "json").json
    found = run("log", "unused", sample_log, "--bundle", own, "--format", "json")
    assert found.status == 1
    inherited = {(one["policy"], one["rule"]) for one in found.json["unused"] if one["inherited"]}
    tips = {one["policy"] for one in whole["unused"] if one["policy"].startswith("tips")}
    assert inherited == {(one["policy"], one["rule"]) for one in whole["unused"] if one["policy"] not in tips}
    assert not any(one["inherited"] for one in whole["unused"])
    text = run("log", "unused", sample_log, "--bundle", own).out
    assert "routing/always_fast (inherited) never matched in 21 decisions" in text


@pytest.mark.parametrize("form", ["jsonl", "parquet", "sqlite"])
def test_sql(run, sample_log, lines, tmp_path, form):
    pytest.importorskip("duckdb", reason="the extra sql is not installed")
    log = sample_log
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
        log = tmp_path / "log.parquet"
        assert run("log", "export", "--to", "parquet", sample_log, "-o", log).status == 0
    elif form == "sqlite":
        from policyengine.log.chain import body
        from policyengine.log.sinks import Item
        from policyengine.log.sinks.sqlite import SqliteSink

        log = tmp_path / "log.sqlite"
        sink = SqliteSink(log)
        sink.write_many([Item(record, body(record)) for record in lines(sample_log)])
        sink.close()
    query = "SELECT kind, count(*) AS n, max(outcome->>'tier') AS tier FROM log GROUP BY kind ORDER BY kind"
    found = run("log", "sql", query, log, "--format", "json").json
    counts = {}
    for record in lines(sample_log):
        counts[record["kind"]] = counts.get(record["kind"], 0) + 1
    assert {row["kind"]: row["n"] for row in found} == counts
    assert next(row["tier"] for row in found if row["kind"] == "Ladder") == "warn"
    wrong = run("log", "sql", "SELECT nothing FROM log", log)
    assert wrong.status == 2
    assert len(wrong.err.splitlines()) == 1
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    for reaching in (f"SELECT * FROM '{other}'", f"COPY (SELECT 1) TO '{other}'", "INSTALL httpfs"):
        assert run("log", "sql", reaching, log).status == 2
    assert other.read_text() == "a\n1\n"


def test_export_loses_nothing(run, sample_log, lines, tmp_path):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet, back = tmp_path / "log.parquet", tmp_path / "back.jsonl"
    assert run("log", "export", "--to", "parquet", sample_log, "-o", parquet).status == 0
    assert run("log", "export", "--to", "jsonl", parquet, "-o", back).status == 0
    assert lines(back) == lines(sample_log)
    assert run("log", "export", "--to", "jsonl", sample_log, "-o", sample_log).status == 2


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The built-in bundle with another number in its routing."""
    folder = tmp_path_factory.mktemp("bundle") / "policies"
    shutil.copytree(load().path, folder)
    text = (folder / "routing.yaml").read_text(encoding="utf-8")
    assert "cross_result_calls: 3" in text
    changed = text.replace("cross_result_calls: 3", "cross_result_calls: 5")
    (folder / "routing.yaml").write_text(changed, encoding="utf-8")
    return folder


class TestDecidedAgain:
    def again(self, run, *args):
        return run("replay", *args, "--format", "json")

    def test_the_same_bundle_decides_the_same(self, run, sample_log, lines):
        found = self.again(run, sample_log).json
        assert found["records"] == found["decided"] == found["same"] == len(lines(sample_log))

    def test_another_bundle_moves_outcomes(self, run, sample_log, other):
        found = self.again(run, sample_log, "--bundle", other).json
        assert found["changed"] > 0
        assert {move["policy"] for move in found["moves"]} == {"routing"}
        move = next(move for move in found["moves"] if "decision" in move["from"])
        assert "decision primary" in move["from"]
        assert "decision fast" in move["to"]
        assert move["examples"][0]["session_id"] == "sample-session"
        text = run("replay", sample_log, "--bundle", other).out
        assert f"{move['from']}  →  {move['to']}" in text

    @pytest.mark.parametrize(("limit", "status"), [("0", 1), ("1", 1), ("100%", 0), ("0.1%", 1), ("1000", 0)])
    def test_a_limit_for_ci(self, run, sample_log, other, limit, status):
        assert self.again(run, sample_log, "--bundle", other, "--max-changed", limit).status == status

    def test_the_result_does_not_depend_on_files_or_their_order(self, run, sample_log, other, tmp_path):
        whole = self.again(run, sample_log, "--bundle", other).json
        parts = []
        written = sample_log.read_bytes().splitlines(keepends=True)
        for number in range(3):
            part = tmp_path / f"{number}.jsonl"
            part.write_bytes(b"".join(written[number::3]))
            parts.append(part)
        assert self.again(run, *reversed(parts), "--bundle", other).json == whole
        pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
        parquet = tmp_path / "log.parquet"
        run("log", "export", "--to", "parquet", sample_log, "-o", parquet)
        assert self.again(run, parquet, "--bundle", other).json == whole
        output = tmp_path / "out"
        self.again(run, *parts, "--bundle", other, "--output", output)
        import pyarrow.parquet

        rows = [row for file in output.iterdir() for row in pyarrow.parquet.read_table(file).to_pylist()]
        assert len(rows) == whole["records"]
        assert sum(not row["same"] for row in rows) == whole["changed"]

    def test_a_masked_record_says_what_it_needs(self, run, tmp_path):
        log = tmp_path / "masked.jsonl"
        assert run("replay", SAMPLE, "--log", log).status == 0
        found = self.again(run, log).json
        assert found["changed"] == 0
        assert {(one["policy"], one["fields"]) for one in found["masked"]} == {
            ("routing", "prompt"),
            ("prompt-class", "prompt"),
            ("compression-triggers", "prompt"),
        }
        assert found["decided"] + sum(one["count"] for one in found["masked"]) == found["records"]
        assert "prompt is masked" in run("replay", log).out

    def test_logs_and_sessions_are_not_mixed(self, run, sample_log):
        assert run("replay", sample_log, SAMPLE).status == 2
        assert run("replay", SAMPLE, "--max-changed", "3").status == 2
        assert run("replay", sample_log, "--max-changed", "some").status == 2

    def test_a_policy_that_is_gone_counts_as_changed(self, run, sample_log, other):
        (other / "tips.yaml").unlink()
        gone = self.again(run, sample_log, "--bundle", other).json["no_policy"]["tips"]
        assert gone > 0
        assert run("replay", sample_log, "--bundle", other, "--max-changed", str(gone - 1)).status == 1

    def test_a_log_of_which_nothing_is_decided_does_not_pass(self, run, tmp_path, sample_log):
        log = tmp_path / "none.jsonl"
        log.write_text(sample_log.read_text().splitlines()[0][:-9] + "\n")
        result = run("replay", log, "--max-changed", "100%")
        assert result.status == 1
        assert "nothing was decided" in result.err

    @pytest.mark.soak
    def test_ray_decides_the_same(self, run, sample_log, other):
        pytest.importorskip("ray", reason="the extra ray is not installed")
        local = self.again(run, sample_log, "--bundle", other).json
        assert self.again(run, sample_log, "--bundle", other, "--engine", "ray").json == local

    @pytest.mark.soak
    def test_a_million_records_here_and_on_ray(self, run, tmp_path):
        from bench_log import large_log, redeciding

        path = tmp_path / "log.jsonl"
        large_log(path, 1_000_000)
        for row in redeciding(path, 1_000_000):  # compares the digests
            print(f"\n{row}")
