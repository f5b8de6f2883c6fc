"""A SQLite database of something else is refused as a log and as a state store, and stays as it is."""

import shutil
import sqlite3

import pytest

from tests.conftest import ROOT

DATABASES = {
    "no table of ours": ("CREATE TABLE users (name TEXT)", "without the table `{table}`"),
    "a view": ("CREATE VIEW one AS SELECT 1", "without the table `{table}`"),
    "a view of our name, without an end": (
        "CREATE VIEW {table} AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x FROM r",
        "its `{table}` is a view, or has triggers",
    ),
    "a table of our name": ("CREATE TABLE {table} (id INTEGER, artist TEXT)", "its table `{table}` has other columns"),
}
COMMANDS = {
    "replay": (("replay", "session.jsonl", "--log", "x.db"), "records"),
    "eval": (("eval", "floor", "--input", "input.json", "--log", "x.db"), "records"),
    "run with a log": (("run", "hi", "--log", "x.db"), "records"),
    "run with a state": (("run", "hi", "--state", "x.db"), "state"),
    "gate": (("gate", "rollout", "--log", "log.jsonl", "--state", "x.db"), "state"),
}


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "sample-session.jsonl", tmp_path / "session.jsonl")
    (tmp_path / "input.json").write_text('{"window": 200000, "tokens": 5}')
    run("replay", "session.jsonl", "--log", "log.jsonl")
    return tmp_path


def made(path, statement):
    database = sqlite3.connect(path)
    database.execute(statement)
    database.commit()
    database.close()
    return path.read_bytes()


@pytest.mark.parametrize("name", DATABASES)
@pytest.mark.parametrize("command", COMMANDS)
def test_is_refused_and_nothing_is_written_to_it(run, folder, name, command):
    arguments, table = COMMANDS[command]
    statement, said = DATABASES[name]
    before = made(folder / "x.db", statement.format(table=table))
    files = set(folder.iterdir())
    found = run(*arguments)
    assert (found.status, found.out) == (2, "")
    what = "decision log" if table == "records" else "state store"
    *told, last = found.err.splitlines()
    assert last.startswith(f"policyengine: x.db: this file is no {what} (")
    assert said.format(table=table) in last
    assert last.endswith("nothing was written to it; give another file")
    assert all("the built-in bundle decided" in line for line in told)
    assert (folder / "x.db").read_bytes() == before
    assert set(folder.iterdir()) == files


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x, x, x, x FROM r"


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_trigger_says_is_not_run(run, folder, command):
    arguments, table = COMMANDS[command]
    assert run(*arguments).status in (0, 1, 3)  # makes our table, where the command writes one
    made(folder / "x.db", f"CREATE TABLE IF NOT EXISTS {table} (key TEXT)")
    trigger = f"CREATE TRIGGER t BEFORE INSERT ON {table.upper()} BEGIN SELECT count(*) FROM ({ENDLESS}); END"
    before = made(folder / "x.db", trigger)
    found = run(*arguments)
    assert found.status == 2
    assert f"its `{table}` is a view, or has triggers" in found.err
    assert (folder / "x.db").read_bytes() == before


@pytest.mark.parametrize("name", ["records", "RECORDS"])
def test_a_view_is_not_read_as_a_log(run, folder, name):
    made(folder / "x.db", f"CREATE VIEW {name} (seq, time, chain, record) AS {ENDLESS}")
    found = run("log", "stats", "x.db")
    assert (found.status, found.out) == (2, "")
    assert "x.db: is no log: its `records` is a view, or has triggers" in found.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_database_and_one_of_ours_are_taken(run, folder, command):
    arguments, table = COMMANDS[command]
    made(folder / "x.db", "PRAGMA user_version = 1")
    for _ in range(2):
        assert run(*arguments).status in (0, 1, 3)
    made(folder / "x.db", "CREATE TABLE IF NOT EXISTS of_a_person (note TEXT)")
    assert run(*arguments).status in (0, 1, 3)
    with sqlite3.connect(folder / "x.db") as database:
        assert database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] >= 0


@pytest.mark.parametrize("what", ["a text", "a folder", "a file in no folder"])
def test_what_can_hold_no_state_is_said_before_a_model_is_asked(run, folder, what):
    (folder / "notes.md").write_text("my notes\n")
    where = {"a text": "notes.md", "a folder": ".", "a file in no folder": "no/such/state.db"}[what]
    found = run("run", "hi", "--state", where)
    assert (found.status, found.out) == (2, "")
    assert found.err.splitlines()[-1].startswith(f"policyengine: {where}: the state cannot be read or written: ")
    assert (folder / "notes.md").read_text() == "my notes\n"
