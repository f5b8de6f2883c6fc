"""A file that is not there has no line and no column: one clear line that names it."""

import pytest

COMMANDS = [
    ("replay", "nowhere.jsonl"),
    ("replay", "."),
    ("compress", "nowhere.jsonl"),
    ("probe", "nowhere.jsonl"),
    ("eval", "routing", "--input", "nowhere.json"),
    ("gate", "total-saved", "--log", "log.jsonl", "--baseline", "nowhere.json"),
    ("run", "hi", "--script", "nowhere.yaml"),
    ("lint", "nowhere"),
    ("test", "nowhere"),
    ("verify", "nowhere"),
    ("fmt", "nowhere"),
    ("diff", "nowhere", "nowhere"),
    ("context", "--bundle", "nowhere"),
    ("log", "stats", "nowhere.jsonl"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_missing_file_or_folder_is_named_without_a_line(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text("")
    found = run(*command)
    assert (found.status, found.out) == (2, "")
    (line,) = found.err.splitlines()
    name = next(word for word in command if word.startswith(("nowhere", ".")))
    assert line.startswith(f"policyengine: {name}: ")
    assert ":1" not in line
