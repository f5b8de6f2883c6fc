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


def test_a_count_of_one_thing_and_of_others():
    assert [counted(number, "entry", "entries") for number in (0, 1, 2000)] == ["0 entries", "1 entry", "2 000 entries"]
    assert counted(None, "token") == "– tokens"
