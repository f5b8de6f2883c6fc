"""`-`: what an editor or a pipe gives on stdin."""

import json

import pytest

from tests.conftest import ROOT

SAMPLE = ROOT / "examples" / "sample-session.jsonl"
MANIFEST = """\
apiVersion: policyengine/v1
kind: Bundle
metadata: {name: ours, version: 1.0.0}
spec: {extends: built-in}
"""
WORDS = """\
apiVersion: policyengine/v1
kind: WordLists
metadata: {name: words, version: 1.0.0}
spec: {words: {mine: [alpha, beta]}}
"""
TIPS = (ROOT / "policies" / "tips.yaml").read_text(encoding="utf-8")


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    policies = tmp_path / "policies"
    (policies / "more").mkdir(parents=True)
    (policies / "bundle.yaml").write_text(MANIFEST)
    (policies / "words.yaml").write_text(WORDS)
    (policies / "more" / "tips.yaml").write_text(TIPS)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return policies


def contents(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class TestLint:
    NAME = "policies/more/tips.yaml"

    def lint(self, run, text, *args):
        return run("lint", "-", *args, "--format", "json", input=text)

    def test_the_text_stands_in_the_place_of_its_file(self, run, bundle):
        before = contents(bundle)
        wrong = TIPS.replace("kind: Tips", "kind: Tipz")
        found = self.lint(run, wrong, "--stdin-name", self.NAME)
        assert found.status == 1
        (finding,) = found.json["findings"]
        assert (finding["file"], finding["line"], finding["hint"]) == (self.NAME, 3, "did you mean `Tips`?")
        # As lint of the file itself says it, to the last letter; and nothing was written.
        assert contents(bundle) == before
        (bundle / "more" / "tips.yaml").write_text(wrong)
        assert run("lint", self.NAME, "--format", "json").json == found.json

    def test_only_what_is_in_the_text(self, run, bundle):
        (bundle / "broken.yaml").write_text("kind: [")
        found = self.lint(run, TIPS, "--stdin-name", self.NAME)
        assert {finding["file"] for finding in found.json["findings"]} <= {self.NAME}

    def test_a_file_that_is_not_there_yet(self, run, bundle):
        found = self.lint(run, TIPS, "--stdin-name", "policies/more/z.yaml")
        assert found.status == 1
        assert {finding["file"] for finding in found.json["findings"]} == {"policies/more/z.yaml"}
        # The other file is named as it is called on the disk.
        assert "policyengine-" not in found.out
        assert "policies/more/tips.yaml:" in found.out

    @pytest.mark.parametrize("text", ["kind: [", "\0", b"\xff\xfe"])
    def test_what_cannot_be_read_is_a_finding(self, run, bundle, text):
        found = self.lint(run, text, "--stdin-name", self.NAME)
        assert found.status == 1
        assert found.json["findings"][0]["file"] == self.NAME

    def test_the_configuration_is_that_of_the_project(self, run, bundle):
        wrong = TIPS.replace("kind: Tips", "kind: Tipz")
        (bundle.parent / "policyengine.toml").write_text('[lint]\nignore = ["bundle"]\n')
        (bundle / "more" / "tips.yaml").write_text(wrong)
        assert self.lint(run, wrong, "--stdin-name", self.NAME).json == run("lint", self.NAME, "--format", "json").json

    def test_without_a_name_it_is_a_file_of_this_folder(self, run, bundle, monkeypatch):
        found = self.lint(run, TIPS.replace("kind: Tips", "kind: Tipz"))
        assert found.json["findings"][0]["file"] == "./stdin.yaml"

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (("-", "policies"), "- is stdin and stands alone"),
            (("-", "--fix"), "--fix changes files; stdin is none"),
            (("-", "--diff"), "--diff changes files; stdin is none"),
            (("policies", "--stdin-name", "x.yaml"), "--stdin-name says what stdin stands for; give - as PATH"),
            (("-", "--stdin-name", "policies/x.txt"), "policies are YAML files"),
            (("-", "--stdin-name", "nowhere/x.yaml"), "there is no such folder"),
        ],
    )
    def test_what_cannot_run_is_one_line(self, run, bundle, args, said):
        found = run("lint", *args, input=TIPS)
        assert (found.status, found.out) == (2, "")
        assert said in found.err
        assert len(found.err.splitlines()) == 1


class TestFmt:
    UGLY = "kind:   Tips\n\n\n\nmetadata:   {name: a}\n"

    def test_stdin_is_formatted_to_stdout(self, run, tmp_path):
        path = tmp_path / "a.yaml"
        path.write_text(self.UGLY)
        run("fmt", path)
        found = run("fmt", "-", input=self.UGLY)
        assert (found.status, found.out, found.err) == (0, path.read_text(), "")
        assert run("fmt", "-", input=found.out).out == found.out != self.UGLY

    def test_check_and_diff(self, run):
        found = run("fmt", "-", "--check", input=self.UGLY)
        assert (found.status, found.out) == (1, "would change stdin\n")
        found = run("fmt", "-", "--diff", input=self.UGLY)
        assert found.status == 0
        assert found.out.startswith("--- a/stdin\n+++ b/stdin\n")
        assert run("fmt", "-", "--check", input=run("fmt", "-", input=self.UGLY).out).status == 0

    def test_what_cannot_be_read_prints_nothing_in_its_place(self, run):
        found = run("fmt", "-", input="kind: [")
        assert (found.status, found.out) == (1, "")
        assert "stdin:1:" in found.err
        found = run("fmt", "-", input=b"\xff\xff")
        assert (found.status, found.out) == (2, "")
        assert "stdin:1:1" in found.err

    def test_it_stands_alone(self, run):
        assert "stands alone" in run("fmt", "-", "x.yaml", input="").err


@pytest.mark.parametrize("args", [("replay",), ("compress",), ("probe",)])
def test_a_session_on_stdin(run, args):
    here = run(*args, SAMPLE, "--format", "json")
    found = run(*args, "-", "--format", "json", input=SAMPLE.read_bytes())
    assert found.status == here.status == 0
    assert found.out == here.out.replace(json.dumps(str(SAMPLE)), '"stdin"')


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("replay", "-", "-"), "give it once"),
        (("replay", "-"), "stdin: is of no known format"),
        (("compress", "-"), "stdin: is of no known format"),
        (("probe", "-", "--summary", "-"), "stdin can be read once"),
    ],
)
def test_what_stdin_cannot_be_is_one_line(run, args, said):
    found = run(*args, input="some words\n")
    assert (found.status, found.out) == (2, "")
    assert said in found.err
    assert len(found.err.splitlines()) == 1
