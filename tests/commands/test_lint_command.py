"""`policyengine lint`, `rules` and `explain` as a person and as CI see them."""

import json

import pytest

from policyengine.check.formats.registry import FORMATS
from policyengine.check.lint.pages import page
from policyengine.check.lint.registry import RULES
from policyengine.commands import lint
from tests.check.lint.bundles import BREAKER, MANIFEST, WORDS, closed_breaker
from tests.conftest import ROOT


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "bundle.yaml").write_text(MANIFEST)
    (tmp_path / "policies" / "breaker.yaml").write_text(closed_breaker())
    (tmp_path / "policies" / "words.yaml").write_text(WORDS)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "policies"


def test_the_default_bundle_is_clean(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("lint", "built-in")
    assert (found.status, found.out, found.err) == (0, "No findings.\n", "")


def test_text_shows_the_line_and_a_caret(run, bundle):
    found = run("lint", "policies/breaker.yaml")
    assert found.status == 1
    assert found.out.splitlines()[:4] == [
        "policies/breaker.yaml:5:41: error[breaker-limit]: `max_consecutive_failures` is 0: the path is closed "
        "before anything has failed",
        "  |",
        "5 |   constants: {max_consecutive_failures: 0}",
        "  |                                         ^",
    ]


def test_without_a_path_the_local_folder(run, bundle):
    found = run("lint", "--format", "json")
    assert found.status == 1
    assert [finding["code"] for finding in found.json["findings"]] == [
        "breaker-limit",
        "word-redundant",
        "word-case",
        "word-redundant",
    ]


def test_warnings_alone_are_no_failure(run, bundle):
    (bundle / "words.yaml").write_text(WORDS.replace("Add, ", ""))
    found = run("lint", "policies/words.yaml")
    assert found.status == 0
    assert "2 warnings" in found.out


def test_fix_and_diff(run, bundle):
    before = (bundle / "words.yaml").read_text()
    shown = run("lint", "--diff", "policies/words.yaml")
    assert "-          fix, fix it, add, Add, add," in shown.out
    assert (shown.status, shown.err.splitlines()[0]) == (1, "would fix 2 findings in 1 file")
    assert (bundle / "words.yaml").read_text() == before
    fixed = run("lint", "--fix", "policies/words.yaml")
    assert fixed.status == 1, "an upper case word is left, whose repair is not safe"
    assert fixed.err == "fixed 2 findings in 1 file\n"
    assert "fix it" not in (bundle / "words.yaml").read_text()
    again = run("lint", "--fix", "--unsafe-fixes", "policies/words.yaml")
    assert (again.status, again.out) == (0, "No findings.\n")
    none = run("lint", "--diff", "policies/words.yaml")
    assert (none.status, none.out, none.err) == (0, "", "nothing to fix\n")


@pytest.mark.parametrize("options", [("--diff",), ("--fix", "--diff")], ids=" ".join)
def test_a_patch_is_all_of_stdout_and_what_it_leaves_is_said(run, bundle, options):
    """One finding has a safe fix, one has none, one would change a decision: the last two are still there."""
    both = WORDS.replace("Add, add", "add") + "---\n" + closed_breaker()
    (bundle / "breaker.yaml").unlink()
    (bundle / "words.yaml").write_text(both)
    found = run("lint", *options, "policies/words.yaml")
    assert found.status == 1
    assert found.out.startswith("--- a/policies/words.yaml\n+++ b/policies/words.yaml\n@@")
    assert all(line[:1] in "-+@ " for line in found.out.splitlines())
    did = "fixed" if "--fix" in options else "would fix"
    assert found.err.startswith(f"{did} 2 findings in 1 file\npolicies/words.yaml:")
    assert "error[breaker-limit]" in found.err
    assert "word-redundant" not in found.err
    assert found.err.endswith("Found 1 error in 1 file.\n")
    assert ((bundle / "words.yaml").read_text() == both) == ("--fix" not in options)


def test_a_fix_that_is_not_wanted_leaves_its_finding(run, bundle):
    (bundle / "breaker.yaml").unlink()
    left = run("lint", "--diff")
    assert "error[word-case]" in left.err
    assert left.err.endswith("Found 1 error in 1 file.\n")
    assert "word-case" not in run("lint", "--diff", "--unsafe-fixes").err


def test_what_cannot_be_read_is_never_taken_for_fixed(run, bundle):
    (bundle / "breaker.yaml").write_bytes(b"\xff")
    found = run("lint", "--diff")
    assert (found.status, found.err.count("error[yaml]")) == (1, 1)
    assert "policies/breaker.yaml:1:1: error[yaml]" in found.err


def test_a_patch_has_no_other_format(run, bundle):
    found = run("lint", "--diff", "--format", "json")
    assert (found.status, found.out) == (2, "")
    assert "leave --format out" in found.err


def test_the_built_in_bundle_is_never_changed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("lint", "built-in", "--fix")
    assert found.status == 2
    assert "policyengine init" in found.err


def test_a_missing_path_is_one_clear_line(run, bundle):
    found = run("lint", "polices")
    assert (found.status, found.out) == (2, "")
    assert found.err == ("policyengine: polices: there is no such file or folder; give policies or a folder of them\n")


def test_an_empty_folder_is_refused(run, bundle):
    (bundle.parent / "empty").mkdir()
    found = run("lint", "empty")
    assert found.status == 2
    assert "no YAML file" in found.err


def test_configuration_by_option(run, bundle):
    (bundle.parent / "mine.toml").write_text('[lint.rules]\nbreaker-limit = "info"\nword-case = "of"\n')
    found = run("lint", "--config", "mine.toml", "--format", "json")
    assert [(finding["code"], finding["severity"]) for finding in found.json["findings"]][:2] == [
        ("config", "error"),
        ("breaker-limit", "info"),
    ]


def test_github_writes_the_job_summary(run, bundle, monkeypatch):
    summary = bundle.parent / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    found = run("lint", "--format", "github")
    assert found.status == 1
    assert found.out.startswith("::error file=policies/breaker.yaml,line=5,")
    assert summary.read_text().startswith("before\n### policyengine lint\n")
    assert "`word-case`" in summary.read_text()


def test_the_command_knows_every_format():
    assert lint.FORMATS == FORMATS


def test_a_secret_is_found_and_not_shown(run, tmp_path):
    key = "sk-proj-a1B2c3D4e5F6g7H8i9J0"
    file = tmp_path / "breaker.yaml"
    file.write_text(BREAKER.replace("owner: team", f"owner: {key}"))
    for form in FORMATS:
        found = run("lint", "--format", form, file)
        assert found.status == 1
        assert key not in found.out + found.err


def test_rules_lists_all(run):
    lines = run("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in RULES]
    assert [rule["code"] for rule in run("rules", "--format", "json").json] == [rule.code for rule in RULES]


@pytest.mark.parametrize("code", [rule.code for rule in RULES])
def test_explain_shows_why_and_two_examples(run, code):
    found = run("explain", code)
    assert found.status == 0
    assert all(word in found.out for word in (code, "Bad:", "Good:"))
    assert json.loads(run("explain", code, "--format", "json").out)["code"] == code


def test_explain_offers_the_nearest(run):
    found = run("explain", "shadowed-rul")
    assert found.status == 2
    assert "did you mean `shadowed-rule`?" in found.err


def test_the_page_of_rules_is_current(run):
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert text == page(RULES), "run: policyengine rules --format markdown > docs/rules.md"
    assert run("rules", "--format", "markdown").out == text


HEAD = "apiVersion: policyengine/v1\nkind: Breaker\nmetadata: {name: b, version: 1.0.0, owner: me}\nspec:\n"


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github", "gitlab"])
def test_what_was_not_checked_is_said_beside_every_format(run, tmp_path, form):
    rules = "  rules: [{id: a, wehn: x}, {id: a, when: nothing > 1}]\n  default: {outcome: {breaker: closed}}\n"
    (tmp_path / "b.yaml").write_text(HEAD + rules)
    found = run("lint", tmp_path, "--format", form)
    assert found.status == 1
    assert (
        found.err
        == f"policyengine: rules and expressions were not checked in {tmp_path / 'b.yaml'}: mend what is above first\n"
    )
    (tmp_path / "b.yaml").write_text(HEAD + rules.replace("wehn: x", "when: 'true'"))
    found = run("lint", tmp_path, "--format", form)
    assert (found.status, found.err) == (1, "")
