"""One record is `1 record` wherever a command says how many there are."""

import json

import pytest

from policyengine.commands.options import counted

RECORD = {
    "kind": "Tips", "policy": "tips", "session_id": "s", "round": 1, "input": {}, "rules": [], "outcome": {},
    "errors": [{"where": "rule x", "message": "m"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("args", "one", "two"),
    [
        (("check",), "0 records, 1 problem\n", "0 records, 2 problems\n"),
        (("stats",), "1 record, 0 rounds, 0 days (no times)\n", "2 records, 0 rounds, 0 days (no times)\n"),
        (("show",), "  1 error\n", "  1 error\n"),
        (("export", "--to", "jsonl", "-o", "OUT"), "1 record written", "2 records written"),
    ],
)
def test_what_log_commands_count(run, tmp_path, args, one, two):
    args = [str(tmp_path / "out.jsonl") if arg == "OUT" else arg for arg in args]
    for number, said in ((1, one), (2, two)):
        log = tmp_path / f"{number}.jsonl"
        log.write_text((json.dumps(RECORD) + "\n") * number, encoding="utf-8")
        assert said in run("log", args[0], log, *args[1:]).out
        log.write_text("torn\n" * number + json.dumps(RECORD) + "\n", encoding="utf-8")
        if args[0] in ("show", "export"):
            said = ["1 line is no record; the first is", "2 lines are no records; the first is"][number - 1]
            assert f"{said} {log}:1\n" in run("log", args[0], log, *args[1:]).err


ASKING = {
    "log stats": ["log", "stats", "LOG"],
    "log show": ["log", "show", "LOG"],
    "log unused": ["log", "unused", "LOG"],
    "log sql": ["log", "sql", "select count(*) from log", "LOG"],
    "log export": ["log", "export", "--to", "jsonl", "-o", "OUT", "LOG"],
    "replay": ["replay", "LOG"],
    "gate": ["gate", "quality", "--log", "LOG"],
    "baseline": ["baseline", "--log", "LOG"],
    "report": ["report", "--log", "LOG", "-o", "OUT"],
}


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("name", ASKING)
def test_lines_that_are_no_records_are_counted_in_the_same_words_by_all(run, tmp_path, name, number):
    pytest.importorskip({"log sql": "duckdb", "report": "plotly"}.get(name, "json"), reason="an extra is not installed")
    log, out = tmp_path / "log.jsonl", tmp_path / "out"
    log.write_text(json.dumps(RECORD) + "\n" + "torn\n" * number, encoding="utf-8")
    found = run(*({"LOG": log, "OUT": out}.get(one, one) for one in ASKING[name]))
    assert found.status != 2, found.err
    said = ["no record", "1 line is no record", "2 lines are no records"][number]
    told = " ".join((found.out + found.err).split())
    assert (said in told) == (number > 0)
    if name == "report":
        assert ("<dt>lines that are no records</dt>" in out.read_text(encoding="utf-8")) == (number > 0)


@pytest.mark.parametrize("name", ["log stats", "log unused", "replay", "gate", "baseline"])
def test_lines_that_are_no_records_are_counted_in_json(run, tmp_path, name):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(RECORD) + "\ntorn\n", encoding="utf-8")
    found = run(*(log if one == "LOG" else one for one in ASKING[name]), "--format", "json")
    assert found.json["unreadable"] == 1


def test_a_count_of_one_thing_and_of_others():
    assert [counted(number, "entry", "entries") for number in (0, 1, 2000)] == ["0 entries", "1 entry", "2 000 entries"]
    assert counted(None, "token") == "– tokens"
