"""Loading a bundle: what a person gets wrong is found, with its place."""

import os
import shutil

import pytest

from policyengine.kinds.bundle import check, files, load
from policyengine.source.errors import BundleError, InputError
from policyengine.source.resources import policies_folder
from tests.conftest import ROOT

HEAD = """\
apiVersion: policyengine/v1
kind: {kind}
metadata: {{name: {name}, version: 1.0.0, owner: us, description: Something.}}
spec:
"""
GATE = HEAD.format(kind="CompactionGate", name="gate")


def written(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def found(folder):
    return [(f"{f.place.line}:{f.place.column}", f.code, f.message + " " + (f.hint or "")) for f in check(folder)[1]]


# text after the head (5 lines in), place, and pieces that the finding has to name
CASES = {
    "an unknown variable in a plain scalar": (
        "  rules:\n    - id: a\n      when: tokns > 5\n      outcome: {compact: true}\n", "7:13", ("tokns", "tokens"),
    ),
    "an unknown variable late in a folded block": (
        "  rules:\n    - id: a\n      when: >-\n        forced ||\n        tokns > 5\n      outcome: {compact: true}\n",
        "9:9", ("tokns", "tokens"),
    ),
    "an unknown variable in a double-quoted scalar": (
        '  rules:\n    - id: a\n      when: "\\"a\\" == \\"b\\" || tokns > 5"\n      outcome: {compact: true}\n',
        "7:32", ("tokns",),
    ),
    "a condition that is no boolean": (
        "  rules:\n    - id: a\n      when: tokens + 1\n      outcome: {compact: true}\n", "7:13", ("bool",),
    ),
    "a comparison that can never be true": (
        '  rules:\n    - id: a\n      when: breaker == "opn"\n      outcome: {compact: true}\n', None, ("opn", "open"),
    ),
    "an expression that does not parse": (
        "  rules:\n    - id: a\n      when: tokens >\n      outcome: {compact: true}\n", None, (),
    ),
    "a regular expression that does not compile": (
        "  rules:\n    - id: a\n      when: breaker.matches('(')\n      outcome: {compact: true}\n", None, ("regular",),
    ),
    "an unknown outcome field": (
        "  rules:\n    - id: a\n      outcome: {compct: true}\n", "7:17", ("compct", "compact"),
    ),
    "an outcome of the wrong type": (
        "  rules:\n    - id: a\n      outcome: {compact: no}\n", "7:26", ("no", "true or false", "write false"),
    ),
    "two rules of one id": (
        "  rules:\n    - {id: a, outcome: {compact: true}}\n    - {id: a, outcome: {compact: true}}\n",
        "7:12", ("a", "line 6"),
    ),
    "a default with an id where only one rule may match": (
        "  hit: unique\n  rules:\n    - {id: a, when: forced, outcome: {compact: true}}\n"
        "  default: {id: b, outcome: {compact: false}}\n",
        "8:17", ("hit: unique", "no id", "leave the id out"),
    ),
    "a default where all matches are collected": (
        "  hit: collect\n  rules:\n    - {id: a, when: forced, outcome: {compact: true}}\n"
        "  default: {outcome: {compact: false}}\n",
        "8:12", ("hit: collect", "decides nothing", "leave it out"),
    ),
    "a field decided twice": (
        "  rules:\n    - {id: a, outcome: {compact: true}, compute: {compact: forced}}\n", None, ("compact",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_found_at_its_place(tmp_path, name):
    text, place, pieces = CASES[name]
    findings = found(written(tmp_path, gate=GATE + text))
    assert len(findings) == 1, findings
    at, _, message = findings[0]
    if place:
        assert at == place
    for piece in pieces:
        assert piece in message


def test_an_unknown_kind_names_the_nearest(tmp_path):
    ((at, _, message),) = found(written(tmp_path, a=HEAD.format(kind="Lader", name="a") + "  {}\n"))
    assert at == "2:7"
    assert "Ladder" in message


def test_several_of_a_kind_need_a_choice(tmp_path):
    rules = "  rules: [{id: a, outcome: {compact: true}}]\n"
    one, two = (HEAD.format(kind="CompactionGate", name=name) + rules for name in ("one", "two"))
    ((_, _, message),) = found(written(tmp_path, a=one, b=two))
    assert "use: {CompactionGate: one}" in message
    written(tmp_path, c=HEAD.format(kind="Bundle", name="mine") + "  use: {CompactionGate: two}\n")
    assert found(tmp_path) == []
    assert load(tmp_path).serving("CompactionGate").name == "two"


@pytest.mark.parametrize(
    ("use", "pieces"), [("{CompactionGate: on}", ("one",)), ("{CompactionGat: one}", ("CompactionGate",))]
)
def test_a_choice_of_something_missing_is_found(tmp_path, use, pieces):
    rules = "  rules: [{id: a, outcome: {compact: true}}]\n"
    written(tmp_path, a=HEAD.format(kind="CompactionGate", name="one") + rules)
    written(tmp_path, c=HEAD.format(kind="Bundle", name="mine") + f"  use: {use}\n")
    ((_, _, message),) = found(tmp_path)
    assert all(piece in message for piece in pieces)


TIPS = HEAD.format(kind="Tips", name="tips") + (
    "  fallback: {warn: 0.5, auto: 0.8, hard: 0.95}\n"
    "  tips:\n    - id: intro\n      from: warn\n      text: Long.\n      when: CONDITION\n"
)


@pytest.mark.parametrize(
    ("when", "place", "piece"),
    [
        ("session_prompt_count", "10:13", "the condition is int, expected bool"),
        ("session_prompt_count > 5 && tokens", "10:41", "operand of && is int, expected bool"),
        ("(session_prompt_count > 5", "10:38", "the expression ends where ')' is expected"),
        ("session_prompt_count > 5) || (true", "10:37", "unexpected ')'"),
    ],
)
def test_what_a_kind_writes_around_a_condition_stays_out_of_what_is_said_about_it(tmp_path, when, place, piece):
    """A tip's `when` is joined to its range: that join is not what the person wrote, and nothing escapes from it."""
    ((at, _, message),) = found(written(tmp_path, tips=TIPS.replace("CONDITION", when)))
    assert (at, message.startswith(piece)) == (place, True), message


def test_two_policies_of_one_name(tmp_path):
    rules = "  rules: [{id: a, outcome: {compact: true}}]\n"
    text = HEAD.format(kind="CompactionGate", name="one") + rules
    assert any("taken" in message for _, _, message in found(written(tmp_path, a=text, b=text)))


def test_several_documents_in_one_file(tmp_path):
    rules = "  rules: [{id: a, outcome: {compact: true}}]\n"
    text = "---\n".join(
        [HEAD.format(kind="CompactionGate", name="one") + rules, HEAD.format(kind="Bundle", name="b") + "  {}\n"]
    )
    assert load(written(tmp_path, a=text)).name == "b"


def test_loading_raises_one_line_and_keeps_every_finding(tmp_path):
    text = GATE + "  rules: [{id: a, when: tokns > 1}, {id: b, when: tokes > 1}]\n"
    with pytest.raises(BundleError) as error:
        load(written(tmp_path, gate=text))
    assert len(error.value.findings) == 2
    assert "and 1 more" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("make", [lambda f: f / "missing", lambda f: f])
def test_nothing_to_read(tmp_path, make):
    with pytest.raises(InputError):
        load(make(tmp_path))


def test_a_policy_error_becomes_the_conservative_outcome(tmp_path):
    """1 / 0 escapes as no exception: on_error decides, and the error is in the decision."""
    text = GATE + "  rules: [{id: a, when: tokens / (tokens - tokens) > 1, outcome: {compact: true}}]\n"
    policy = load(written(tmp_path, gate=text)).policy("gate")
    decision = policy.decide(policy.input_schema["examples"][0], trace=True)
    assert decision.outcome == {"compact": False, "reason": "error"}
    assert decision.errors[0].where == "rule a"
    assert decision.trace[0].status == "error"


def test_an_input_of_the_wrong_type_becomes_the_conservative_outcome():
    policy = load().policy("compaction-gate")
    good = dict(policy.input_schema["examples"][0])
    assert policy.outcome(good)["compact"] is True
    for name, value in (("tokens", "200000"), ("tokens", True), ("forced", 1), ("breaker", None)):
        assert policy.outcome({**good, name: value})["compact"] is False, name
    del good["breaker"]
    assert policy.outcome(good)["compact"] is False


def test_the_digest_ignores_layout_and_comments(tmp_path):
    text = GATE + "  rules: [{id: a, outcome: {compact: true}}]\n"
    first = load(written(tmp_path, gate=text)).digest
    assert load(written(tmp_path, gate="# a comment\n" + text.replace("{id: a, ", "{id:   a, "))).digest == first
    assert load(written(tmp_path, gate=text.replace("true", "false"))).digest != first


def test_the_default_bundle_has_no_finding():
    assert check()[1] == []


@pytest.mark.parametrize("name", ["tips.test.yaml", "word-lists.yaml"])
@pytest.mark.parametrize("command", [("test", "--bundle"), ("eval", "tips", "--example", "--bundle"), ("verify",)])
def test_a_folder_without_anything_that_decides_is_one_clear_line(run, tmp_path, name, command):
    shutil.copy(policies_folder() / name, tmp_path)
    found = run(*command, tmp_path)
    assert found.status == 2
    said = "no policy that decides anything is here, only tests, word lists and the like"
    assert found.err == f"policyengine: {tmp_path}: {said}\n"


def _dead_link(folder):
    (folder / "x.yaml").symlink_to(folder / "gone.yaml")


def _circle(folder):
    (folder / "x.yaml").symlink_to(folder / "y.yaml")
    (folder / "y.yaml").symlink_to(folder / "x.yaml")


def _pipe(folder):
    os.mkfifo(folder / "x.yaml")


@pytest.mark.parametrize(
    ("make", "says"),
    [(_dead_link, "leads to nothing"), (_circle, "cannot read the file"), (_pipe, "not a regular file")],
)
@pytest.mark.parametrize("inside", [True, False])
def test_what_looks_like_a_policy_and_cannot_be_read_is_a_finding(run, tmp_path, make, says, inside):
    """Nothing in a folder of policies is silently left out."""
    folder = tmp_path / "inner" if inside else tmp_path
    folder.mkdir(exist_ok=True)
    shutil.copy(policies_folder() / "retry.yaml", tmp_path)
    make(folder)
    found = run("lint", tmp_path)
    assert found.status == 1
    assert f"{folder}/x.yaml: error[yaml]: " in found.out
    assert says in found.out
    assert run("replay", ROOT / "examples" / "sample-session.jsonl", "--bundle", tmp_path).status == 2


def test_a_linked_folder_is_read_once_wherever_links_lead(tmp_path):
    shared, bundle = tmp_path / "shared", tmp_path / "bundle"
    shared.mkdir()
    bundle.mkdir()
    shutil.copy(policies_folder() / "retry.yaml", shared)
    (bundle / "a").symlink_to(shared)
    (bundle / "b").symlink_to(shared)
    (shared / "back").symlink_to(bundle)
    (bundle / "round").symlink_to(bundle)
    assert list(files(bundle)) == [bundle / "a" / "retry.yaml"]
    (bundle / "here").mkdir()
    shutil.copy(policies_folder() / "routing.yaml", bundle / "here")
    (bundle / "again").symlink_to(bundle / "here")
    assert list(files(bundle)) == [bundle / "a" / "retry.yaml", bundle / "here" / "routing.yaml"]


def test_a_folder_that_cannot_be_looked_into_is_said(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    shutil.copy(policies_folder() / "retry.yaml", tmp_path)
    scandir = os.scandir

    def refuse(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"closed: .*Permission denied"):
        load(tmp_path)
