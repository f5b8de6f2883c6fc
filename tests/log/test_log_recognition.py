"""What is no decision log does not pass for one in which nothing happened; nothing found is no clean bill."""

import json
from importlib.util import find_spec

import pytest

from policyengine.source.render import printable
from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"
TORN = '{"schema":"policyengine.record/1","seq":1,"chain_from":"00'
READERS = [
    ("log", "check", "LOG"), ("log", "stats", "LOG"), ("log", "show", "LOG"), ("log", "unused", "LOG"),
    ("log", "sql", "select count(*) from log", "LOG"), ("log", "export", "--to", "jsonl", "-o", "OUT", "LOG"),
    ("gate", "quality", "--log", "LOG"), ("baseline", "--log", "LOG", "-o", "OUT"),
    ("report", "--log", "LOG", "-o", "OUT"),
]  # fmt: skip
NEED = {"sql": "duckdb", "report": "plotly"}


def filled(args, log, out):
    if any(word in args and find_spec(need) is None for word, need in NEED.items()):
        pytest.skip("an extra is not installed")
    return [log if arg == "LOG" else out if arg == "OUT" else arg for arg in args]


@pytest.fixture
def readers(request, tmp_path):
    return lambda log: filled(request.param, log, tmp_path / "out")


@pytest.fixture
def log(run, tmp_path):
    path = tmp_path / "log.jsonl"
    run("replay", SAMPLE, "--log", path)
    return path


@pytest.mark.parametrize("readers", READERS, indirect=True, ids=lambda args: " ".join(args[:2]))
class TestNoLog:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (None, "is no decision log, no line of it is a record; it looks like a session (claude-code), which"),
            ("some words\nof a person\n", "is no decision log, no line of it is a record"),
            ('{"a": 1}\n[]\n', "is no decision log, no line of it is a record"),
            ("", "holds no record"),
            ("\n\n", "holds no record"),
        ],
        ids=["session", "words", "json", "empty", "blank"],
    )
    def test_is_refused(self, run, tmp_path, readers, text, said):
        path = tmp_path / "other.jsonl"
        path.write_text(text if text is not None else SAMPLE.read_text())
        found = run(*readers(path))
        assert (found.status, found.out) == (2, "")
        assert found.err.startswith(f"policyengine: {path}: {said}")
        assert len(found.err.splitlines()) == 1
        assert not (tmp_path / "out").exists()

    def test_is_refused_among_logs(self, run, tmp_path, log, readers):
        (tmp_path / "zz.jsonl").write_text("words\n")
        found = run(*readers(tmp_path))
        assert found.status == 2
        assert f"{tmp_path / 'zz.jsonl'}: is no decision log" in found.err

    def test_an_empty_file_beside_others_is_a_log_just_begun(self, run, tmp_path, log, readers):
        (tmp_path / "zz.jsonl").touch()
        assert run(*readers(tmp_path)).status != 2


def test_a_log_whose_only_record_is_cut_off_is_one(run, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(TORN)
    found = run("log", "check", path)
    assert found.status == 1
    assert "the last line is cut off" in found.out


def test_nothing_to_check_is_no_clean_log(run):
    found = run("log", "check", "/dev/null")
    assert (found.status, found.out, found.err) == (2, "", "policyengine: /dev/null: holds no record\n")


@pytest.mark.parametrize("name", ["log.parquet", "log.sqlite"])
def test_only_lines_can_be_followed(run, tmp_path, name):
    (tmp_path / name).touch()
    found = run("log", "tail", tmp_path / name)
    assert (found.status, found.out) == (2, "")
    assert "`policyengine log show` reads this one" in found.err


def test_a_session_is_not_followed_and_an_empty_file_may_become_a_log(run, tmp_path):
    found = run("log", "tail", SAMPLE)
    assert (found.status, found.out) == (2, "")
    assert "is no decision log" in found.err
    (tmp_path / "new.jsonl").touch()
    assert run("log", "tail", tmp_path / "new.jsonl").status == 0


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("log", "unused", "LOG"), 2),
        (("report", "--log", "LOG", "-o", "OUT"), 2),
        (("log", "stats", "LOG"), 0),
        (("log", "show", "LOG"), 0),
        (("gate", "quality", "--log", "LOG"), 3),
        (("baseline", "--log", "LOG"), 3),
    ],
    ids=lambda args: " ".join(args[:2]) if isinstance(args, tuple) else "",
)
@pytest.mark.parametrize("period", [("--since", "2099-01-01"), ("--until", "1999-01-01")])
def test_a_period_without_records_is_said(run, tmp_path, log, args, status, period):
    found = run(*filled(args, log, tmp_path / "out"), *period)
    assert found.status == status
    assert "no record" in found.err


def test_rules_of_policies_that_never_decided_are_not_called_used(run, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"kind": "Ladder", "policy": "of-another-bundle"}) + "\n")
    found = run("log", "unused", path)
    assert (found.status, found.out) == (2, "")
    assert "no policy of the bundle decided in these logs" in found.err


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--kind", "Ruoting", "these logs have no kind 'Ruoting', and the bundle knows none; did you mean `Routing`?"),
        ("--policy", "flor", "no policy 'flor', and the bundle knows none; did you mean `floor`?"),
        ("--veto", "wrte_tool", "no veto 'wrte_tool', and the bundle knows none; did you mean `write_tool`?"),
        ("--rule", "zzzzzz", "no rule 'zzzzzz', and the bundle knows none; there are: "),
    ],
)
def test_a_name_that_nobody_knows_is_a_slip(run, log, option, value, said):
    for args in ((option, value), (option, value, "--kind", "Routing"), (option, value, "--limit", "1")):
        found = run("log", "show", log, *args)
        assert (found.status, found.out) == (2, "")
        assert said in found.err


@pytest.mark.parametrize(
    "args", [("--policy", "ceiling"), ("--veto", "lang_unsupported", "--limit", "5"), ("--session", "s")]
)
def test_known_names_that_are_in_no_record_leave_nothing(run, log, args):
    found = run("log", "show", log, *args)
    assert (found.status, found.out) == (0, "")
    assert found.err == "no record of these logs is meant by these options\n"


def test_a_name_that_only_the_log_knows_is_known(run, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"kind": "Ladder", "policy": "of-another-bundle"}) + "\n")
    found = run("log", "show", path, "--policy", "of-another-bundle")
    assert (found.status, len(found.out.splitlines()), found.err) == (0, 1, "")


@pytest.mark.parametrize("value", ["zz", "", "a" * 63, "g" * 64])
def test_a_chain_value_has_its_form(run, log, value):
    found = run("log", "check", log, "--ends-with", value)
    assert (found.status, found.out) == (2, "")
    assert "64 digits" in found.err


def test_another_end_is_a_problem_of_the_whole_file(run, log):
    found = run("log", "check", log, "--ends-with", "A" * 64)
    assert found.status == 1
    assert f"{log}: gap: the log does not end with the given chain value" in found.out
    assert run("log", "check", log, "--ends-with", "a" * 64, "--format", "json").json["problems"][0]["line"] is None
    last = run("log", "check", log, "--format", "json").json["last_chain"]
    assert run("log", "check", log, "--ends-with", last.upper()).status == 0


@pytest.mark.parametrize("query", ["", " ", ";", "/* nothing */"])
def test_an_empty_query_is_said(run, log, query):
    pytest.importorskip("duckdb", reason="the extra sql is not installed")
    found = run("log", "sql", query, log)
    assert (found.status, found.out) == (2, "")
    assert "the query is empty" in found.err


def test_a_wrong_query_is_one_line_without_carets(run, log):
    pytest.importorskip("duckdb", reason="the extra sql is not installed")
    found = run("log", "sql", "selec 1", log)
    assert (found.status, found.err) == (2, 'policyengine: SQL: Parser Error: syntax error at or near "selec"\n')


EVIL = "s1\n2026-01-01T00:00:00.000  forged round 1\x07\x1b[31m\u202e"


@pytest.mark.parametrize(
    "args",
    [
        ("log", "show", "LOG"), ("log", "tail", "LOG"), ("log", "stats", "--by", "session", "LOG"),
        ("log", "stats", "--by", "kind", "LOG"), ("log", "sql", "select session_id, rule from log", "LOG"),
        ("replay", "LOG"),
    ],
    ids=lambda args: " ".join(args[:2]),
)  # fmt: skip
def test_what_a_log_holds_forges_no_line_and_reaches_no_terminal(run, tmp_path, args):
    record = {
        "schema": "policyengine.record/1", "time": "2026-01-01T00:00:00.000+00:00", "kind": "Ladder",
        "policy": "floor", "session_id": EVIL, "round": 1, "rule": EVIL, "input": {"window": 200000, "tokens": 5},
        "outcome": {"tier": EVIL, EVIL: 1}, "rules": [], "errors": [],
    }  # fmt: skip
    path = tmp_path / "log.jsonl"
    others = ({**record, "kind": EVIL}, {**record, "policy": EVIL})
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in (record, *others)))
    found = run(*filled(args, path, None))
    assert found.status in (0, 1), found.err
    for line in found.out.splitlines():
        assert printable(line) == line
        assert not line.startswith("2026-01-01T00:00:00.000  forged")
