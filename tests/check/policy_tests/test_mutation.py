"""Mutants: what is changed, which changes tests notice, and what is said about the others."""

import pytest

from policyengine.check.policy_tests.expression_mutants import changes
from policyengine.check.policy_tests.numbers import variants


def mutated(expression):
    return [change.applied(expression) for change in changes(expression)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a <= b", ["a < b", "a > b"]),
        ("a > b", ["a >= b", "a <= b"]),
        ("a >= b", ["a > b", "a < b"]),
        ("a == b", ["a != b"]),
        ("a != b", ["a == b"]),
        ("a && b || c", ["a || b || c", "a && b && c"]),
        ("!a", ["a"]),
        ("a + 10", ["a - 10", "a + 11", "a + 9", "a + 20", "a + 0"]),
        ("-a", ["a"]),
        ("a - -1", ["a + -1", "a - 1", "a - -2", "a - -0"]),
        ("0.85 * a", ["0.86 * a", "0.84 * a", "1.7 * a", "0.0 * a", "0.85 / a"]),
        ("a > 0", ["a >= 0", "a <= 0", "a > 1"]),
        ("true", ["false"]),
        ('a == "x"', ['a != "x"', 'a == "x-mutant"']),
        ("math.greatest(a, b)", ["math.least(a, b)"]),
        ("a.exists(b, b)", ["a.all(b, b)"]),
        ("least", []),
        ("a == null", ["a != null"]),
        ("has(a.b)", []),
        ("a ==", ["a !="]),
        ("a = b", []),
    ],
)
def test_small_changes_of_an_expression(expression, expected):
    assert mutated(expression) == expected


@pytest.mark.parametrize(
    ("number", "expected"),
    [(3, [4, 2, 6, 0]), (1, [2, 0]), (0, [1]), (0.7, [0.8, 0.6, 1.4, 0.0]), (4.0, [5.0, 3.0, 8.0, 0.0]), (-1, [0, -2])],
)
def test_numbers_near_a_number(number, expected):
    assert variants(number) == expected


def survivors(result):
    return [one["mutant"] for one in result.json["mutants"]["survivors"]]


def test_good_tests_notice_every_mutant(good, run):
    result = run("test", "--bundle", good, "--mutate", "--format", "json")
    assert survivors(result) == []
    assert result.status == 0
    assert result.json["mutants"]["noticed"] == result.json["mutants"]["total"] > 30


def test_a_boundary_that_no_case_stands_at_is_found(good, run):
    file = good / "good.test.yaml"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if "amber, 3" not in line]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    result = run("test", "--bundle", good, "--mutate", "--format", "json")
    assert result.status == 1
    assert survivors(result) == [
        "constants.patience: 3 becomes 4",
        "constants.patience: 3 becomes 6",
        "rules.hurry.when: < becomes <=",
    ]
    assert [(f["code"], f["line"], f["column"]) for f in result.json["findings"]] == [
        ("mutant", 13, 25),
        ("mutant", 13, 25),
        ("mutant", 19, 41),
    ]


def test_mutants_are_shown_at_their_place(good, run):
    file = good / "good.test.yaml"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if "amber, 3" not in line]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    out = run("test", "--bundle", good, "--mutate").out
    assert "light.yaml:19:41: error[mutant]: no test notices a mutant of `light`: rules.hurry.when: < becomes <=" in out
    assert '19 |       when: color == "amber" && seconds < patience' in out
    assert "3 not noticed" in out


def explain(folder, mutant, policy="light"):
    file = folder / "good.test.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        f"{text}  explained_mutants:\n    - {{mutant: {mutant!r}, policy: {policy}, reason: because}}\n",
        encoding="utf-8",
    )


def test_an_explained_mutant_is_no_failure(good, run):
    file = good / "good.test.yaml"
    kept = [line for line in file.read_text(encoding="utf-8").splitlines() if "amber, 3" not in line]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    explain(good, "constants.patience: *")
    result = run("test", "--bundle", good, "--mutate", "--format", "json")
    assert survivors(result) == ["rules.hurry.when: < becomes <="]
    assert [one["reason"] for one in result.json["mutants"]["explained"]] == ["because", "because"]


@pytest.mark.parametrize(
    ("mutant", "policy"),
    [
        ("constants.patience: 3 becomes 4", "light"),
        ("rules.gone.when: *", "light"),
        ("constants.patience: *", "meter"),
    ],
)
def test_an_explanation_of_nothing_is_a_failure(mutant, policy, good, run):
    explain(good, mutant, policy)
    result = run("test", "--bundle", good, "--mutate", "--format", "json")
    assert result.status == 1
    assert [f["code"] for f in result.json["findings"]] == ["explained"]
    assert run("test", "--bundle", good).status == 0


def test_no_mutant_is_tried_on_failing_tests(good, write, run):
    write("policy: light\ncases:\n  - {name: a, input: {color: red, seconds: 1}, rule: go}\n")
    result = run("test", "--bundle", good, "--mutate")
    assert result.status == 1
    assert "no mutants were tried: make the tests pass first" in result.out


def test_mutants_that_there_is_no_time_for_are_a_failure(good, run):
    result = run("test", "--bundle", good, "--mutate", "--max-seconds", "0.000001")
    assert result.status == 1
    assert "the time was over before" in result.out
    assert "not tried" in result.out


@pytest.mark.parametrize("asked", ["words.colour", "words . colour"])
def test_a_word_that_is_dropped_is_noticed_only_by_a_case_with_it(tmp_path, run, asked):
    (tmp_path / "words.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: WordLists\n"
        "metadata: {name: words, version: 1.0.0, owner: us, description: Some.}\n"
        "spec: {words: {colour: {description: Colours., latin: [red, green, blue]}}}\n",
        encoding="utf-8",
    )
    (tmp_path / "light.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: Table\n"
        "metadata: {name: light, version: 1.0.0, owner: us, description: Some.}\n"
        "spec:\n  input: {type: object, properties: {text: {type: string}}, required: [text]}\n"
        f"  rules: [{{id: coloured, when: text.mentions({asked}), outcome: {{found: true}}}}]\n"
        "  default: {id: plain, outcome: {found: false}}\n  on_error: {found: false}\n",
        encoding="utf-8",
    )
    (tmp_path / "words.test.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: Tests\nmetadata: {name: t, version: 1.0.0}\nspec:\n  policy: words\n"
        "  cases:\n    - {name: a, each: {text: [red]}, rule: colour}\n"
        "    - {name: b, policy: light, each: {text: [green]}, rule: coloured}\n"
        "    - {name: c, policy: light, input: {text: grey}, rule: plain}\n",
        encoding="utf-8",
    )
    result = run("test", "--bundle", tmp_path, "--mutate", "--format", "json")
    assert [one for one in survivors(result) if one.startswith("words")] == ["words.colour.latin.blue: dropped"]
