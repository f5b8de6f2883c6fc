"""What a path of the command line selects: tests, a policy's tests, several bundles."""

import shutil
from xml.etree import ElementTree

import pytest

METER = "policy: meter\ncases:\n  - {name: m, input: {now_ms: 0, cars: 0, last_ms: 0}, rule: hold}\n"
LIGHT = "policy: light\ncases:\n  - {name: l, input: {color: green, seconds: 1}, rule: go}\n"
BOTH = """\
inputs:
  green: {color: green, seconds: 1}
  start: {now_ms: 0, cars: 0, last_ms: 0}
cases:
  - {name: both, policy: light, base: green, steps: [{rule: go}, {policy: meter, base: start, rule: hold}]}
"""
WORDS = """\
apiVersion: policyengine/v1
kind: WordLists
metadata: {name: lists, version: 1.0.0, owner: us}
spec: {words: {fast: {latin: [quick]}}}
---
apiVersion: policyengine/v1
kind: Table
metadata: {name: reader, version: 1.0.0, owner: us}
spec:
  input: {type: object, properties: {text: {type: string}}, required: [text]}
  rules: [{id: quick, when: text.mentions(words.fast), outcome: {quick: true}}]
  default: {outcome: {quick: false}}
  on_error: {quick: false}
"""


@pytest.fixture
def two(light, write):
    """The bundle with a test document for each of its policies."""
    write(METER, "meter.test.yaml")
    write(LIGHT, "light.test.yaml")
    return light


def cases(result):
    return sorted(case["name"] for case in result.json["cases"])


def test_a_policy_stands_for_the_tests_that_ask_it(two, write, run):
    assert cases(run("test", two / "meter.yaml", "--format", "json")) == ["m"]
    write(BOTH, "both.test.yaml")
    found = run("test", two / "meter.yaml", "--format", "json")
    assert cases(found) == ["both", "m"]
    assert [one["policy"] for one in found.json["coverage"]["policies"]] == ["meter"]


def test_a_policy_without_tests_fails_and_says_so(light, write, run):
    write(LIGHT)
    found = run("test", light / "meter.yaml")
    assert found.status == 1
    assert "no test document of the bundle asks `meter`, so nothing was tested" in found.out


def test_a_word_list_stands_for_the_tests_of_the_policies_that_read_it(light, write, run):
    (light / "words.yaml").write_text(WORDS)
    (light / "lists.yaml").write_text(WORDS.partition("---\n")[0])
    (light / "words.yaml").write_text(WORDS.partition("---\n")[2])
    write("policy: reader\ncases:\n  - {name: r, input: {text: be quick}, rule: quick}\n", "reader.test.yaml")
    write(LIGHT, "light.test.yaml")
    assert cases(run("test", light / "lists.yaml", "--format", "json")) == ["r"]


def test_a_bundle_document_stands_for_all_tests(two, run):
    manifest = "apiVersion: policyengine/v1\nkind: Bundle\nmetadata: {name: b, version: 1.0.0}\nspec: {}\n"
    (two / "bundle.yaml").write_text(manifest)
    assert cases(run("test", two / "bundle.yaml", "--format", "json")) == ["l", "m"]


@pytest.fixture
def agents(two, tmp_path):
    """Two bundles, the second with a failing case."""
    shutil.copytree(two, tmp_path / "other")
    file = tmp_path / "other" / "light.test.yaml"
    file.write_text(file.read_text().replace("rule: go", "rule: wait"))
    return [two, tmp_path / "other"]


def test_several_bundles_are_tested_each_in_its_own(agents, run):
    found = run("test", *(folder / "light.test.yaml" for folder in agents))
    assert found.status == 1
    assert f"bundle light 0.0.0 in {agents[0]}\n" in found.out
    assert "1 case in 1 document: 1 passed" in found.out
    assert f"bundle other 0.0.0 in {agents[1]}\n" in found.out
    assert "1 case in 1 document: 0 passed, 1 failed" in found.out


def test_several_bundles_for_programs(agents, run):
    found = run("test", *agents, "--format", "json")
    assert found.status == 1
    assert found.json["passed"] is False
    assert [one["bundle"]["name"] for one in found.json["bundles"]] == ["light", "other"]
    assert [one["counts"]["failed"] for one in found.json["bundles"]] == [0, 1]
    root = ElementTree.fromstring(run("test", *agents, "--format", "junit").out)
    assert (root.get("name"), root.get("failures")) == ("light, other", "1")


def test_whole_tests_all_of_the_bundle_around_each_path(agents, run):
    found = run("test", "--whole", agents[0] / "meter.yaml", agents[1] / "meter.yaml", "--format", "json")
    assert [cases_of["counts"]["cases"] for cases_of in found.json["bundles"]] == [2, 2]
    assert [cases_of["counts"]["failed"] for cases_of in found.json["bundles"]] == [0, 1]


def test_the_word_for_the_built_in_bundle_is_a_path(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run("test", "built-in")
    assert found.status == 0
    assert "passed; rules covered" in found.out
