"""Files that commands write: never over what they read, and one line where the system refuses."""

import json
import os

import pytest

from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("replay", SAMPLE, "--log", "log.jsonl")
    (tmp_path / "session.jsonl").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "input.json").write_text('{"window": 200000, "tokens": 5}')
    for name in ("log.jsonl", "session.jsonl", "input.json"):
        (tmp_path / f"link-{name}").symlink_to(name)
        os.link(name, f"hard-{name}")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("prefix", ["", "./", "link-", "hard-"])
@pytest.mark.parametrize(
    "args",
    [
        ("report", "--log", "log.jsonl", "-o", "log.jsonl"),
        ("baseline", "--log", "log.jsonl", "-o", "log.jsonl"),
        ("log", "export", "log.jsonl", "--to", "jsonl", "-o", "log.jsonl"),
        ("gate", "rollout", "--log", "log.jsonl", "--state", "log.jsonl"),
        ("replay", "session.jsonl", "--log", "session.jsonl"),
        ("eval", "floor", "--input", "input.json", "--log", "input.json"),
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_what_is_read_is_not_written(run, folder, args, prefix):
    before = contents(folder)
    found = run(*args[:-1], prefix + args[-1])
    assert (found.status, found.out) == (2, "")
    assert "names a file that is read here; write to another file" in found.err
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["report", "baseline"])
@pytest.mark.parametrize(
    ("target", "said"), [("other.jsonl", "is a decision log"), ("session.jsonl", "is a session"), (".", "is a folder")]
)
def test_recordings_are_not_overwritten(run, folder, command, target, said):
    run("replay", SAMPLE, "--log", "other.jsonl")
    before = contents(folder)
    found = run(command, "--log", "log.jsonl", "-o", target)
    assert (found.status, found.out) == (2, "")
    assert said in found.err
    assert contents(folder) == before


def test_a_page_and_a_baseline_are_written_again(run, folder):
    pytest.importorskip("plotly", reason="the extra report is not installed")
    for _ in range(2):
        assert run("report", "--log", "log.jsonl", "-o", "page.html").status == 0
        assert run("baseline", "--log", "log.jsonl", "-o", "baseline.json").status == 3


@pytest.mark.parametrize("args", [("replay", "session.jsonl"), ("eval", "floor", "--input", "input.json")])
@pytest.mark.parametrize("name", ["new.jsonl", "new.sqlite", "new.db"])
def test_records_are_written_in_the_form_that_the_name_says(run, folder, args, name):
    for _ in range(2):
        assert run(*args, "--log", name).status == 0
    assert (folder / name).read_bytes().startswith(b"SQLite format 3") == (not name.endswith("jsonl"))
    assert run("log", "check", name).status == 0
    assert run("log", "stats", name, "--format", "json").json["records"] > 1


def test_records_go_into_no_session(run, folder):
    before = (folder / "session.jsonl").read_bytes()
    found = run("eval", "floor", "--input", "input.json", "--log", "session.jsonl")
    assert found.status == 2
    assert "no decision log" in found.err
    assert (folder / "session.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "summary"),
    [
        (("init", "file/policies"), None),
        (("replay", "log.jsonl", "--output", "file"), None),
        (("replay", "log.jsonl", "--output", "file/inside"), None),
        (("lint", "built-in", "--format", "github"), "nowhere/summary.md"),
        (("report", "--log", "log.jsonl", "-o", "nowhere/page.html"), None),
        (("baseline", "--log", "log.jsonl", "-o", "nowhere/baseline.json"), None),
        (("log", "export", "log.jsonl", "--to", "jsonl", "-o", "nowhere/out.jsonl"), None),
        (("log", "export", "log.jsonl", "--to", "parquet", "-o", "nowhere/out.parquet"), None),
        (("replay", "session.jsonl", "--log", "nowhere/log.jsonl"), None),
        (("replay", "session.jsonl", "--log", "nowhere/log.sqlite"), None),
    ],
    ids=lambda args: " ".join(args) if isinstance(args, tuple) else "",
)
def test_what_the_system_refuses_is_one_line(run, folder, monkeypatch, args, summary):
    (folder / "file").write_text("")
    if summary is not None:
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", summary)
    found = run(*args)
    assert found.status == 2
    assert len(found.err.splitlines()) == 1
    assert "internal error" not in found.err
    assert (summary or args[-1]).split("/")[0] in found.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("args", [("fmt",), ("lint", "--fix")])
def test_a_folder_that_may_not_be_written_is_one_line(run, folder, args):
    (folder / "policies").mkdir()
    (folder / "policies" / "a.yaml").write_text("apiVersion:   policyengine/v1\nkind: Tests\n")
    (folder / "policies").chmod(0o500)
    found = run(*args)
    assert "internal error" not in found.err


def test_an_output_folder_of_decisions_is_written(run, folder):
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    found = run("replay", "log.jsonl", "--output", "out/decisions", "--format", "json")
    assert found.status == 0
    assert json.loads(found.out)["records"] > 0
    assert list((folder / "out" / "decisions").glob("*.parquet"))


class TestTheSystem:
    """An error of the system that nobody has met where it arose."""

    @pytest.fixture
    def raising(self, monkeypatch):
        from policyengine.commands import rules

        def put(error):
            def fail(**_):
                raise error

            monkeypatch.setattr(rules.command, "callback", fail)

        return put

    @pytest.mark.parametrize(
        ("error", "said"),
        [
            (
                FileNotFoundError(2, "No such file or directory", "out/x"),
                "policyengine: out/x: No such file or directory",
            ),
            (PermissionError(13, "Permission denied", b"out"), "policyengine: out: Permission denied"),
            (OSError(28, "No space left on device"), "policyengine: No space left on device"),
        ],
    )
    def test_is_one_clear_line(self, run, raising, error, said):
        raising(error)
        found = run("rules")
        assert (found.status, found.out, found.err) == (2, "", f"{said}\n")

    @pytest.mark.parametrize(
        "error",
        [
            ValueError("of ours"), OSError(22, "Invalid argument"),
            FileNotFoundError(2, "No such file or directory", str(ROOT / "policyengine" / "lost.py")),
        ],
    )  # fmt: skip
    def test_a_fault_of_ours_stays_one_and_says_how_to_see_it(self, run, raising, error):
        raising(error)
        found = run("rules")
        assert found.status == 2
        assert "internal error" in found.err
        assert "`policyengine --traceback rules ...` shows all of it" in found.err
