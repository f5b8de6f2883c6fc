"""Bundles: what changed in words, an input or a proof, replays, git revisions, formats."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from policyengine.commands import group
from policyengine.kinds.bundle import load
from policyengine.source.resources import policies_folder

SESSION = str(Path(__file__).parents[3] / "examples" / "sample-session.jsonl")


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["diff", *arguments])


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    shutil.copytree(policies_folder(), folder)
    return folder


def _edit(folder: Path, file: str, old: str, new: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


VETO = "    - id: cross_result\n      when: distinct_calls >= cross_result_calls\n"
CHANGES = [
    # what, file, old text, new text, the policy, a change in words, effect
    ("a constant", "routing.yaml", "cross_result_calls: 3", "cross_result_calls: 5", "routing",
     "constant `cross_result_calls` changed from `3` to `5`", "different"),
    ("a rule gone", "routing.yaml", VETO, "", "routing",
     "veto `cross_result` removed: `distinct_calls >= cross_result_calls`", "different"),
    ("a rule that can never decide", "compaction-gate.yaml", "    - id: forced\n",
     "    - id: never\n      when: forced && !forced\n      outcome: {compact: false}\n    - id: forced\n",
      "compaction-gate",
     "rule `never` added after `below_auto`: `forced && !forced`", "same"),
    ("a condition written otherwise", "compaction-gate.yaml", "when: forced && rescue", "when: '!(!forced) && rescue",
     "compaction-gate", "", "skip"),
    ("a condition", "compaction-gate.yaml", "tokens < auto && !forced", "tokens <= auto && !forced", "compaction-gate",
     "rule `below_auto`: condition changed from `auto != null && tokens < auto && !forced` to "
     "`auto != null && tokens <= auto && !forced`", "different"),
    ("the same condition", "compaction-gate.yaml", "tokens < auto && !forced", "!(tokens >= auto) && !forced",
     "compaction-gate", "rule `below_auto`: condition changed", "same"),
    ("an outcome", "history-repair.yaml", "outcome: {gap: tolerate, orphan_call: answer_cancelled",
     "outcome: {gap: tolerate, orphan_call: drop", "history-repair", "default", "different"),
    ("an owner", "routing.yaml", "owner: policyengine", "owner: somebody", "routing",
     "owner changed from `policyengine` to `somebody`", "same"),
    ("a description", "routing.yaml", "description: Off until", "description: Not before", "routing",
     "rule `not_activated`: description changed", "same"),
    ("a setting", "tips.yaml", "hysteresis_tokens: 0", "hysteresis_tokens: 500", "tips",
     "hysteresis_tokens changed from `0` to `500`", "different"),
    ("a tool's row", "directives.yaml", 'tools: [grep, glob, ls]\n      skip_llm_round: "false"',
     'tools: [grep, glob, ls]\n      skip_llm_round: "true"', "directives",
     "tools, row 2, skip_llm_round changed from `false` to `true`", "different"),
    ("a word", "word-lists.yaml", "creates,", "", "prompt-class", "the word lists it uses changed", "different"),
    ("a model's window", "models.yaml", "window: 1000000", "window: 900000", "models",
     "model `claude-fable-5-2`: window changed from `1000000` to `900000`", "different"),
    ("a recorded object", "models.yaml", "thinking_lowest: {output_config: {effort: low}}",
     "thinking_lowest: {output_config: {effort: none}}", "models", "thinking_lowest", "different"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "file", "old", "new", "policy", "says", "effect"), [r for r in CHANGES if r[6] != "skip"],
    ids=[r[0] for r in CHANGES if r[6] != "skip"],
)  # fmt: skip
def test_a_change(bundle: Path, what: str, file: str, old: str, new: str, policy: str, says: str, effect: str) -> None:
    _edit(bundle, file, old, new)
    found = _run(str(policies_folder()), str(bundle), "--format", "json")
    assert found.exit_code == 0, found.output
    row = next(row for row in json.loads(found.output)["policies"] if row["name"] == policy)
    assert any(says in change["text"] for change in row["changes"]), row["changes"]
    assert row["effect"] == effect
    if effect == "different":
        both = [load(folder).policy(policy).decide(row["example"]["input"]) for folder in (policies_folder(), bundle)]
        assert [dict(one.outcome) for one in both] == [row["example"]["old"], row["example"]["new"]]
        assert both[0].outcome != both[1].outcome


def test_a_moved_rule(bundle: Path) -> None:
    _edit(bundle, "routing.yaml", VETO, "")
    _edit(bundle, "routing.yaml", "    - id: further_action\n", f"{VETO}    - id: further_action\n")
    row = json.loads(_run(str(policies_folder()), str(bundle), "--format", "json").output)["policies"][0]
    assert row["changes"] == [{"what": "moved", "text": "veto `cross_result` moved to the front"}]


def test_nothing_changed(bundle: Path) -> None:
    found = _run(str(policies_folder()), str(bundle))
    assert found.exit_code == 0
    assert "0 changed" in found.output


def test_policies_that_came_and_went(bundle: Path) -> None:
    (bundle / "ladders" / "gap.yaml").unlink()
    _edit(bundle, "bundle.yaml", "Ladder: floor", "Ladder: proven")
    found = _run(str(policies_folder()), str(bundle)).output
    assert "Ladder `gap` removed" in found
    assert "Ladder: `proven` serves instead of `floor`" in found


def test_that_a_bundle_no_longer_extends_the_built_in_one_is_said(tmp_path: Path) -> None:
    for name, spec in (("one", "{extends: built-in}"), ("two", "{}")):
        (tmp_path / name).mkdir()
        shutil.copy(policies_folder() / "tips.yaml", tmp_path / name)
        (tmp_path / name / "bundle.yaml").write_text(
            f"apiVersion: policyengine/v1\nkind: Bundle\nmetadata: {{name: b, version: 1.0.0}}\nspec: {spec}\n"
        )
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    kinds = len({policy.kind.name for policy in load(one).inherited.values()})
    assert f"no longer extends the built-in bundle: now nothing serves for {kinds} kinds" in _run(one, two).output
    assert f"now extends the built-in bundle: before nothing served for {kinds} kinds" in _run(two, one).output
    found = json.loads(_run(one, two, "--format", "json").output)
    assert "no longer extends" in str(found)
    assert "extends" not in _run(one, one).output


def test_replay_tells_which_decisions_change_and_why(bundle: Path) -> None:
    _edit(bundle, "routing.yaml", "cross_result_calls: 3", "cross_result_calls: 2")
    replay = json.loads(_run(str(policies_folder()), str(bundle), "--replay", SESSION, "--format", "json").output)[
        "replay"
    ]
    assert replay["changed"] == sum(group["count"] for group in replay["groups"]) > 0
    assert {(g["what"], g["old"], g["new"], g["new_rule"]) for g in replay["groups"]} == {
        ("routing", "fast", "primary", "cross_result")
    }
    assert replay["routing"]["old"]["fast"] - replay["routing"]["new"]["fast"] == replay["changed"]


def test_replay_tells_by_how_many_rounds_compactions_move(bundle: Path) -> None:
    _edit(bundle, "ladders/floor.yaml", "autocompact_buffer: 13000", "autocompact_buffer: 40000")
    arguments = (str(policies_folder()), str(bundle), "--replay", SESSION, "--window", "200000")
    replay = json.loads(_run(*arguments, "--format", "json").output)["replay"]
    assert replay["compactions"]
    for row in replay["compactions"]:
        assert row["moved"] == (row["new_round"] - row["old_round"] if row["old_round"] and row["new_round"] else None)
    text = _run(*arguments).output
    assert "earlier" in text or "a new one at round" in text


def test_a_single_ladder_is_replayed_with_the_built_in_rest() -> None:
    ladders = policies_folder() / "ladders"
    found = _run(str(ladders / "floor.yaml"), str(ladders / "ceiling.yaml"), "--replay", SESSION, "--window", "50000")
    assert found.exit_code == 0, found.output
    assert "decisions change" in found.output


LIMITS = [("0%", 1), ("100%", 0), ("0", 1), ("1", 1), ("1000", 0)]


@pytest.mark.parametrize(("limit", "status"), LIMITS)
def test_max_changed(bundle: Path, limit: str, status: int) -> None:
    _edit(bundle, "routing.yaml", "cross_result_calls: 3", "cross_result_calls: 2")
    found = _run(str(policies_folder()), str(bundle), "--replay", SESSION, "--max-changed", limit)
    assert found.exit_code == status


def test_where_nothing_is_decided_nothing_passes(bundle: Path, tmp_path: Path) -> None:
    session = tmp_path / "one.json"
    session.write_text(json.dumps([{"role": "user", "content": "hello"}]))
    both = (str(policies_folder()), str(bundle), "--replay", str(session))
    assert _run(*both).exit_code == 0
    found = _run(*both, "--max-changed", "100%")
    assert found.exit_code == 1
    assert "nothing was decided" in found.output


MISUSED = [
    (["one"], "give OLD and NEW"),
    (["one", "two", "--git", "HEAD"], "give OLD and NEW"),
    (["one", "two", "--max-changed", "5%"], "--replay"),
    *(
        (
            ["one", "two", "--max-changed", wrong, "--replay", "x"],
            "a share of the decisions (5%) or a count of them (10)",
        )
        for wrong in ("many", "0.05", "1.0", "-1", "101%", "-5%", "nan%", "", "%", "1e3")
    ),
    (["one", "two"], "there is no such file or folder"),
]


@pytest.mark.parametrize(("arguments", "says"), MISUSED)
def test_misuse(arguments: list[str], says: str) -> None:
    found = _run(*arguments)
    assert found.exit_code != 0
    assert says in (found.output or "") + str(found.exception)


def _git(folder: Path, *commands: list[str]) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for command in commands:
        subprocess.run([*git, *command], check=True, capture_output=True, cwd=folder)


@pytest.fixture
def repository(bundle: Path) -> Path:
    """The bundle in a folder of a repository whose only commit holds it as it comes; then a constant is changed."""
    top = bundle.parent / "project"
    top.mkdir()
    bundle.rename(top / "policies")
    _git(top, ["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["branch", "side"], ["tag", "v1"])
    _edit(top / "policies", "routing.yaml", "cross_result_calls: 3", "cross_result_calls: 5")
    return top


# As git names files: from the top of the repository, or with ./ from the current folder.
NAMED = [
    # current folder, arguments, changed documents
    (".", ["HEAD:policies", "policies"], 1),
    (".", ["HEAD:./policies", "policies"], 1),
    (".", ["HEAD:", "policies"], 1),
    (".", ["side:policies/", "policies"], 1),
    (".", ["v1:policies", "policies"], 1),
    (".", ["--git", "HEAD", "policies"], 1),
    (".", ["HEAD:policies", "HEAD:policies"], 0),
    (".", ["--git", "HEAD", "policies/routing.yaml"], 1),
    (".", ["HEAD:policies/routing.yaml", "policies/routing.yaml"], 1),
    (".", ["--git", "HEAD", "policies/ladders/floor.yaml"], 0),
    (".", ["--git", "HEAD", "policies/word-lists.yaml"], 0),
    ("policies", ["HEAD:policies", "."], 1),
    ("policies", ["HEAD:./", "."], 1),
    ("policies", ["HEAD:.", "."], 1),
    ("policies", ["--git", "HEAD", "."], 1),
    ("policies", ["HEAD:./routing.yaml", "routing.yaml"], 1),
    ("policies", ["HEAD:policies/routing.yaml", "routing.yaml"], 1),
    ("policies/ladders", ["HEAD:../routing.yaml", "../routing.yaml"], 1),
    ("policies", ["--git", "HEAD", "TOP/policies"], 1),
    ("..", ["--git", "HEAD", "TOP/policies"], 1),
    ("..", ["--git", "HEAD", "TOP/policies/routing.yaml"], 1),
]


@pytest.mark.parametrize(("folder", "arguments", "changed"), NAMED, ids=lambda value: str(value))
def test_git_revisions(repository: Path, monkeypatch: Any, folder: str, arguments: list[str], changed: int) -> None:
    monkeypatch.chdir(repository / folder)
    found = _run(*(one.replace("TOP", str(repository)) for one in arguments))
    assert found.exit_code == 0, found.output + str(found.exception)
    assert f"{changed} changed" in found.output
    assert ("constant `cross_result_calls` changed" in found.output) == bool(changed)


MISNAMED = [
    # current folder, arguments, what is said
    (".", ["nope:policies", "policies"], "nope:policies: this repository has no revision `nope`"),
    (".", ["--git", "nope", "policies"], "nope:policies: this repository has no revision `nope`"),
    (".", ["-x:policies", "policies"], "-x"),
    (".", ["HEAD:polices", "policies"], "HEAD:polices: there is no `polices` at this revision"),
    ("policies", ["HEAD:routing.yaml", "routing.yaml"], "did you mean HEAD:./routing.yaml?"),
    (".", ["HEAD:../policies", "policies"], "leads out of the repository"),
    (".", ["HEAD:/etc", "policies"], "leads out of the repository"),
    (".", ["--git", "HEAD", "nothing"], "nothing: there is no such file or folder"),
    ("..", ["HEAD:policies", "TOP/policies"], "is in no git repository"),
    (".", ["--git", "HEAD", "policies/new.yaml"], "there is no `policies/new.yaml` at this revision"),
]


@pytest.mark.parametrize(("folder", "arguments", "says"), MISNAMED, ids=lambda value: str(value))
def test_what_is_not_in_git_is_said_in_our_words(
    repository: Path, monkeypatch: Any, run: Any, folder: str, arguments: list[str], says: str
) -> None:
    (repository / "policies" / "new.yaml").write_text("a: 1\n")
    monkeypatch.chdir(repository / folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repository.parent))
    found = run("diff", *(one.replace("TOP", str(repository)) for one in arguments))
    assert found.status == 2
    assert says in found.err
    assert "fatal" not in found.err


def test_without_git_a_revision_is_refused(repository: Path, monkeypatch: Any, run: Any) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", "")
    assert "git is not installed" in run("diff", "HEAD:policies", "policies").err


# What an older version wrote, or what is broken, in the committed bundle.
OLDER = [
    # file, old text, new text, kind and name of what cannot be compared, why
    ("send-limits.yaml", "on_error:", "on_mistake:", "SendLimits send-limits", "lacks the key `on_error`"),
    ("routing.yaml", "metadata:", "metadatas:", None, "routing.yaml:4:1: unknown key `metadatas`"),
    ("ladders/floor.yaml", "  constants:", "  constant:", "Ladder floor", "unknown key `constant`"),
    ("routing.yaml", "cross_result_calls: 3", "cross_result_calls: [", None, "routing.yaml:"),
    ("routing.yaml", "distinct_calls >= cross_result_calls", "distinct_call >= 1", "Routing routing", "distinct_call"),
    ("word-lists.yaml", "words:", "wrods:", "WordLists word-lists", "unknown key `wrods`"),
]


@pytest.mark.parametrize(("file", "old", "new", "about", "why"), OLDER, ids=lambda value: str(value))
def test_an_old_side_that_cannot_be_used_is_not_compared_and_the_rest_is(
    bundle: Path, tmp_path: Path, file: str, old: str, new: str, about: str | None, why: str
) -> None:
    _edit(bundle, "tips.yaml", "hysteresis_tokens: 0", "hysteresis_tokens: 500")
    _edit(bundle, file, old, new)
    found = _run(str(bundle), str(policies_folder()))
    assert found.exit_code == 0, str(found.exception)
    assert "hysteresis_tokens changed from `500` to `0`" in found.output
    (said,) = [line for line in found.output.splitlines() if "not comparable: " in line and why in line]
    assert str(tmp_path) not in said
    rows = json.loads(_run(str(bundle), str(policies_folder()), "--format", "json").output)
    names = [f"{row['kind']} {row['name']}" for row in rows["policies"] if row["effect"] == "not comparable"]
    assert (about is None) == bool(rows["wrong"])
    assert names == ([about] if about else []) or file == "word-lists.yaml"
    assert "ot comparable: " in _run(str(bundle), str(policies_folder()), "--format", "markdown").output
    # The candidate has to be right.
    assert _run(str(policies_folder()), str(bundle)).exit_code != 0


@pytest.mark.parametrize("broken", [row for row in OLDER if row[0] in ("routing.yaml", "word-lists.yaml")], ids=str)
def test_what_cannot_be_compared_counts_as_changed(bundle: Path, broken: tuple[str, ...]) -> None:
    file, old, new, _, _ = broken
    _edit(bundle, file, old, new)
    both = (str(bundle), str(policies_folder()), "--replay", SESSION)
    replay = json.loads(_run(*both, "--format", "json").output)["replay"]
    found = {(group["what"], group["old"]) for group in replay["groups"]}
    # Words are used by prompt classes, on which routing rests, and by triggers of compactions.
    also = {("compaction", "not comparable")} if file == "word-lists.yaml" else set()
    assert found == {("routing", "not comparable")} | also
    assert _run(*both, "--max-changed", "0%").exit_code == 1


def test_a_policy_that_the_candidate_lacks_counts_as_changed(bundle: Path) -> None:
    (bundle / "directives.yaml").unlink()
    both = (str(policies_folder()), str(bundle), "--replay", SESSION)
    replay = json.loads(_run(*both, "--format", "json").output)["replay"]
    assert {(group["what"], group["new"]) for group in replay["groups"]} == {("directive", "no policy")}
    assert _run(*both, "--max-changed", "0").exit_code == 1


def _committed(folder: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True, cwd=folder)


@pytest.mark.parametrize("target", ["/etc/hostname", "../../outside.yaml", "sub/up/../../../outside.yaml"])
def test_a_revision_with_a_link_to_outside_is_refused(bundle: Path, monkeypatch: Any, target: str) -> None:
    (bundle / "sub").mkdir()
    (bundle / "sub" / "up").symlink_to("..")
    (bundle / "more.yaml").symlink_to(target)
    monkeypatch.chdir(bundle.parent)
    _committed(bundle.parent)
    found = _run(f"HEAD:{bundle.name}", str(bundle))
    assert "more.yaml is a link to outside of the folder" in str(found.exception)


def test_a_revision_is_read_as_it_is_stored(bundle: Path, monkeypatch: Any) -> None:
    """Neither the programs nor the exceptions that a repository names have a say; links inside are followed."""
    program = bundle.parent / "program"
    program.write_text("#!/bin/sh\ntouch started\ncat\n")
    program.chmod(0o755)
    monkeypatch.chdir(bundle.parent)
    (bundle / "routing.yaml").rename("stored.txt")
    (bundle / "routing.yaml").symlink_to("../stored.txt")
    Path(".gitattributes").write_text(f"* filter=any\n{bundle.name}/tips.yaml export-ignore\n")
    _committed(bundle.parent)
    subprocess.run(["git", "config", "filter.any.smudge", str(program)], check=True)
    found = _run("HEAD:.", ".")
    assert "0 changed" in found.output
    assert not any(bundle.parent.rglob("started"))


def test_errors_in_the_current_folder_keep_their_names(bundle: Path, monkeypatch: Any) -> None:
    (bundle / "bad.one.yaml").write_text("a: 1\n")
    monkeypatch.chdir(bundle)
    assert ".: bad.one.yaml:1:1: `kind` is missing" in str(_run(".", ".").exception)


def test_markdown_is_a_comment_that_every_forge_takes(bundle: Path) -> None:
    rules = "".join(
        f"    - id: extra_{n}\n      when: tokens == {n} && forced\n      outcome: {{compact: true}}\n"
        for n in range(900)
    )
    _edit(bundle, "compaction-gate.yaml", "    - id: forced\n", f"{rules}    - id: forced\n")
    _edit(bundle, "tips.yaml", "hysteresis_tokens: 0", "hysteresis_tokens: 500")
    found = _run(str(policies_folder()), str(bundle), "--format", "markdown", "--replay", SESSION, "--timeout", "1")
    assert found.exit_code == 0
    assert len(found.output) < 65_000
    assert "## Policy diff" in found.output
    assert "more changes" in found.output
    assert "| field | old | new |" in found.output


def test_inputs_that_are_no_longer_the_same_are_not_called_the_same(tmp_path: Path) -> None:
    spec = """apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0}
spec:
  input: {type: object, properties: {a: {type: TYPE}}, required: [a]}
  rules: [{id: r, when: a == VALUE, outcome: {x: 1}}]
  default: {outcome: {x: 0}}
  on_error: {x: -1}
"""
    for name, type, value in (("one", "integer", "1"), ("two", "boolean", "true")):
        (tmp_path / f"{name}.yaml").write_text(spec.replace("TYPE", type).replace("VALUE", value))
    row = json.loads(_run(str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"), "--format", "json").output)[
        "policies"
    ][0]
    assert row["effect"] == "not decided"


COLLECT = """apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0}
spec:
  hit: collect
  input:
    type: object
    additionalProperties: false
    properties: {a: {type: integer, minimum: 0, maximum: 9}, b: {type: integer, minimum: 0, maximum: 9}}
    required: [a]
  derived: {b: "has(input.b) ? input.b : 3"}
  rules:
    - {id: one, when: a > 2, outcome: {y: 1, z: null}}
    - {id: two, when: a > 5, outcome: {y: 2}}
  on_error: {y: 0}
"""

COLLECTED = [
    # what is replaced by what, the effect
    ("    - {id: two, when: a > 5, outcome: {y: 2}}\n", "", "different"),
    ("outcome: {y: 2}", "outcome: {y: 3}", "different"),
    ("outcome: {y: 1, ", "outcome: {y: true, ", "different"),
    ("outcome: {y: 1, ", "outcome: {y: 1.0, ", "same"),
    ("y: 1, z: null", "y: 1", "different"),
    ("a > 5", "a > 6", "different"),
    ("a > 5", "a >= 6", "same"),
    ("    - {id: two", "    - {id: never, when: a > 9, outcome: {y: 4}}\n    - {id: two", "same"),
]


def test_derived_values_in_another_order_are_no_longer_the_same(tmp_path: Path) -> None:
    own, next_ = 'b: "has(input.b) ? input.b : 3"', "c: 'has(input.b) ? b + 1 : 0'"
    text = COLLECT.replace("a > 5", "b + c > 5")
    for name, derived in (("one", f"{own}, {next_}"), ("two", f"{next_}, {own}")):
        (tmp_path / f"{name}.yaml").write_text(text.replace(own, derived))
    found = json.loads(_run(str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"), "--format", "json").output)
    assert "the order of named values changed" in str(found["policies"][0]["changes"])


@pytest.mark.parametrize(("old", "new", "effect"), COLLECTED)
def test_every_collected_rule_counts(tmp_path: Path, old: str, new: str, effect: str) -> None:
    assert old in COLLECT
    for name, text in (("one", COLLECT), ("two", COLLECT.replace(old, new, 1))):
        (tmp_path / f"{name}.yaml").write_text(text)
    found = _run(str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"), "--format", "json").output
    assert json.loads(found)["policies"][0]["effect"] == effect


NAMED_DESCRIPTION = """apiVersion: policyengine/v1
kind: Table
metadata: {name: t, version: 1.0.0}
spec:
  input: {type: object, required: [n], properties: {n: {type: integer, description: A number.}}}
  constants: {description: 3}
  derived: {large: n > 7}
  rules:
    - {id: large, description: Large ones., when: large, outcome: {description: large, of: {description: deep}}}
    - {id: some, when: n > description, outcome: {description: some}}
  on_error: {description: none}
"""


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        ("description: 3", "description: 4", "different"),
        ("{description: large,", "{description: huge,", "different"),
        ("{description: deep}", "{description: deeper}", "different"),
        ("{description: 3}\n  derived: {large: n > 7}", "{}\n  derived: {large: n > 7, description: '3'}", "same"),
        ("description: Large ones.", "description: The large ones.", "same"),
        ("description: A number.", "description: Some number.", "same"),
    ],
)
def test_only_the_description_of_a_row_or_an_input_decides_nothing(
    tmp_path: Path, old: str, new: str, effect: str
) -> None:
    assert old in NAMED_DESCRIPTION
    for name, text in (("one", NAMED_DESCRIPTION), ("two", NAMED_DESCRIPTION.replace(old, new, 1))):
        (tmp_path / f"{name}.yaml").write_text(text)
    found = json.loads(_run(str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml"), "--format", "json").output)
    assert found["policies"][0]["effect"] == effect


@pytest.mark.parametrize("asked", ["words.verbs", "words . verbs", "words.\n verbs"])
def test_a_word_list_counts_however_its_name_is_written(tmp_path: Path, asked: str) -> None:
    for name, word in (("one", "repair"), ("two", "mend")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.yaml").write_text(
            "apiVersion: policyengine/v1\nkind: WordLists\nmetadata: {name: w, version: 1.0.0}\n"
            f"spec: {{words: {{verbs: {{latin: [{word}]}}}}}}\n---\n"
            "apiVersion: policyengine/v1\nkind: Table\nmetadata: {name: t, version: 1.0.0}\nspec:\n"
            "  input: {type: object, required: [p], properties: {p: {type: string}}}\n"
            f"  rules: [{{id: a, when: {json.dumps(f'p.mentions({asked})')}, outcome: {{r: 1}}}}]\n"
            "  on_error: {r: 0}\n"
        )
    found = json.loads(_run(str(tmp_path / "one"), str(tmp_path / "two"), "--format", "json").output)
    changes = {row["name"]: row["changes"] for row in found["policies"]}
    assert [change["text"] for change in changes["t"]] == ["the word lists it uses changed"]
