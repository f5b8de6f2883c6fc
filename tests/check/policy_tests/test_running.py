"""Running cases, as a person sees it: what passes, what fails, and what a failure shows."""

from xml.etree import ElementTree

import pytest

from policyengine.check.policy_tests.running import agrees

RED = "policy: light\ninputs: {red: {color: red, seconds: 1}}\ncases:\n"


def test_good_tests_pass(good, run):
    result = run("test", "--bundle", good)
    assert result.status == 0
    assert result.out.strip().splitlines()[-1] == "8 cases in 1 document: 8 passed; rules covered: 5 of 5 (100 %)"


def test_tests_beside_policies_are_found_from_their_own_folder(good, run, monkeypatch):
    monkeypatch.chdir(good)
    assert run("test", "good.test.yaml").status == 0
    assert run("test", ".").status == 0


def test_a_failing_case_shows_expected_actual_and_trace(write, light, run):
    file = write(RED + "  - {name: red lights, base: red, set: {color: amber}, expect: {move: false}, rule: wait}\n")
    result = run("test", file, "--bundle", light)
    assert result.status == 1
    shown = [line.rstrip() for line in result.out.splitlines()]
    assert shown[0] == f"{file}:8:7: failed: light: red lights"
    assert shown[1:14] == [
        "  expected  move: false",
        "  actual    move: true",
        '  expected  rule: ["wait"]',
        '  actual    rule: ["hurry"]',
        "  trace",
        '    false    go   color == "green"',
        '             color = "amber"',
        '    matched  hurry   color == "amber" && seconds < patience',
        '             color = "amber"',
        "             seconds = 1",
        "             patience = 3",
        "    skipped  1 more, because a rule had decided",
        '    outcome  {"move": true}',
    ]


def test_only_the_first_failing_case_of_a_policy_shows_its_trace(write, light, run):
    rows = "[[amber, go], [red, go], [green, wait]]"
    file = write(
        f"policy: light\ncases:\n  - {{name: a, set: {{seconds: 1}}, columns: [color, rule], rows: {rows}}}\n"
        "  - {name: b, policy: meter, input: {now_ms: 0, cars: 0, last_ms: 0}, rule: pass}\n"
    )
    found = run("test", file, "--bundle", light)
    assert found.out.count("  trace\n") == 2
    shown = [line.rstrip() for line in found.out.splitlines()]
    at = next(number for number, line in enumerate(shown) if line.endswith("failed: light: a [green]"))
    assert shown[at + 1 : at + 5] == [
        '  expected  rule: ["wait"]',
        '  actual    rule: ["go"]',
        '  decided   by go: color == "green"',
        '            color = "green"',
    ]
    assert "2 failing cases shown without the trace: --trace shows all" in shown
    all_of_them = run("test", file, "--bundle", light, "--trace").out
    assert all_of_them.count("  trace\n") == 4
    assert "without the trace" not in all_of_them


def test_a_failing_case_in_short_shows_the_error_that_decided(write, light, run):
    file = write(
        f"{RED}  - {{name: a, base: red, rule: go}}\n"
        "  - {name: b, base: red, unset: [color], errors: [color], rule: go}\n"
    )
    found = run("test", file, "--bundle", light)
    assert "  decided   by on_error\n            input: the input has no color" in found.out


def test_a_part_of_a_condition_that_failed_is_shown_as_an_error_and_not_as_a_text(write, light, run):
    start = "    base: red\n    rule: go\n    variant: "
    file = write(
        f"""{RED}  - name: a\n{start}{{"rules[0].when": '[0][seconds + 1] == 1 && color == "amber"'}}\n"""
        f"""  - name: b\n{start}{{"rules[1].when": '[0][seconds + 1] == 1 || color == "red"'}}\n"""
    )
    found = run("test", file, "--bundle", light)
    assert "\n             [0][seconds + 1] = error: index out of range\n" in found.out
    assert '\n            [0][seconds + 1] = error: index out of range, color = "red"\n' in found.out


def test_a_failing_step_says_which_one(write, light, run):
    steps = "[{rule: hold}, {after_ms: 1000, rule: pass}, {after_ms: 999, rule: pass}]"
    file = write(f"policy: meter\ncases:\n  - {{name: a, input: {{now_ms: 0, cars: 0, last_ms: 0}}, steps: {steps}}}\n")
    result = run("test", file, "--bundle", light)
    assert result.status == 1
    assert "failed: meter: a (step 3 of 3)" in result.out
    assert "now_ms - last_ms" in result.out


CASES = {
    "an error that was not expected": (
        '{set: {seconds: 0}, variant: {"rules[0].when": 1 / seconds > 1}, rule: wait}',
        "division by zero",
    ),
    "an expected error that does not happen": ("{rule: wait, errors: [color]}", "actual    errors: []"),
    "an expected error of another text": ("{unset: [color], errors: [colour]}", "the input has no color"),
    "another rule than the expected": ("{rule: go}", 'actual    rule: ["wait"]'),
    "more rules than decided": ("{rule: [wait, go]}", 'expected  rule: ["wait", "go"]'),
    "the default where a rule decided": ("{rule: default}", 'actual    rule: ["wait"]'),
    "an error where none happened": ("{rule: on_error}", 'actual    rule: ["wait"]'),
}


@pytest.mark.parametrize("name", CASES)
def test_a_case_fails_and_says_why(name, write, light, run):
    written, says = CASES[name]
    file = write(f"{RED}  - {{name: a, base: red, {written[1:]}\n")
    result = run("test", file, "--bundle", light)
    assert result.status == 1
    assert "1 failed" in result.out
    assert says in result.out


@pytest.mark.parametrize(
    ("expected", "actual", "holds"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (1, True, False),
        (True, True, True),
        (False, 0, False),
        (None, None, True),
        (None, False, False),
        ("1", 1, False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"b": 2}, False),
        ({"a": None}, {}, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ([{"a": 1}], [{"a": 1, "b": 2}], True),
    ],
)
def test_what_agrees_with_an_expectation(expected, actual, holds):
    assert agrees(expected, actual) is holds


def test_a_column_named_like_a_key_of_a_case_is_written_input(write, run):
    spec = "policy: tools\ncases:\n  - name: a\n    set: {command: null}\n    columns: [name, input.name, rule]\n"
    file = write(f"{spec}    rows: [[reading, Read, read_file], [editing, Edit, edit_file]]\n")
    result = run("test", file, "--bundle", "policies", "--format", "json")
    assert result.status == 0
    assert [case["name"] for case in result.json["cases"]] == ["a [reading]", "a [editing]"]


def test_a_word_list_can_be_asked_which_lists_a_text_mentions(write, run):
    spec = "policy: word-lists\ncases:\n  - {name: a, set: {text: fix the address}, rule: [action, english]}\n"
    file = write(f"{spec}  - {{name: b, input: {{text: address}}, expect: {{action: false}}}}\n")
    assert run("test", file, "--bundle", "policies").status == 0


def test_a_variant_of_the_spec_and_a_carried_field_of_another_name(write, run):
    spec = (
        "policy: tips\ninputs:\n  full: {tokens: 95000, warn: 76800, auto: 95000, hard: 105000, window: 128000,"
        " session_prompt_count: 9, shown: null}\ncases:\n"
        "  - name: a\n    base: full\n    variant: {hysteresis_tokens: 10}\n    carry: {shown: tip}\n"
        "    steps: [{rule: context-high}, {set: {tokens: 94990}, rule: context-high}]\n"
        "  - name: b\n    base: full\n    carry: {shown: tip}\n"
        "    steps: [{rule: context-high}, {set: {tokens: 94990}, rule: compress-intro}]\n"
    )
    assert run("test", write(spec), "--bundle", "policies").status == 0


BROKEN = [
    # what stands in a policy's file, what is said
    ("kind: Table\n", "the document lacks the key `spec`"),
    ("kind: [\n", "expected"),
    (
        "apiVersion: policyengine/v1\nkind: Tabel\nmetadata: {name: t, version: 1.0.0}\nspec: {}\n",
        "did you mean `Table`?",
    ),
]


@pytest.mark.parametrize(("text", "says"), BROKEN, ids=[row[1] for row in BROKEN])
def test_a_bundle_that_cannot_be_used_is_said_in_every_format_as_lint_says_it(text, says, good, run, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (good / "light.yaml").write_text(text, encoding="utf-8")
    linted = run("lint", good, "--format", "json").json["findings"]
    wanted = {(one["file"], one["line"], one["column"], one["message"]) for one in linted if one["severity"] == "error"}
    tested = run("test", "--bundle", good, "--format", "json")
    found = {(one["file"], one["line"], one["column"], one["message"]) for one in tested.json["findings"]}
    assert tested.status == 2
    assert (tested.json["passed"], tested.json["broken"], tested.json["cases"]) == (False, True, [])
    assert found == {one for one in wanted if one[0].endswith("light.yaml")}
    text = run("test", "--bundle", good)
    assert text.status == 2
    assert says in text.out
    assert text.out.rstrip().splitlines()[-1].startswith(f"the bundle {good} cannot be used, so nothing was tested")
    junit = run("test", "--bundle", good, "--format", "junit")
    assert junit.status == 2
    errors = list(ElementTree.fromstring(junit.out).iter("error"))
    assert {error.get("message") for error in errors} == {one[3] for one in found}
    github = run("test", "--bundle", good, "--format", "github")
    assert github.status == 2
    assert github.out.count("::error ") == len(found)


def test_of_several_bundles_one_that_cannot_be_used_hides_no_other(good, tmp_path, run):
    other = tmp_path / "other"
    other.mkdir()
    (other / "light.yaml").write_text("kind: Table\n", encoding="utf-8")
    result = run("test", good, other, "--format", "json")
    assert result.status == 2
    assert sorted((one["broken"], one["counts"]["passed"]) for one in result.json["bundles"]) == [(False, 8), (True, 0)]


@pytest.mark.parametrize("args", [["nowhere"], ["--bundle", "nowhere"], ["--min", "101"], ["--format", "yaml"]])
def test_what_cannot_be_run_is_status_2(args, run):
    result = run("test", *args)
    assert result.status == 2
    assert result.err.startswith("policyengine: ")
