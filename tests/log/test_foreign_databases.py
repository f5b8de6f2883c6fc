"""A SQLite database of something else is refused as a log and as a state store, and stays as it is."""

import shutil
import sqlite3

import pytest

from tests.conftest import ROOT

DATABASES = {
    "no table of ours": ("CREATE TABLE users (name TEXT)", "without the table `{table}`"),
    "a view": ("CREATE VIEW one AS SELECT 1", "without the table `{table}`"),
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
