"""The outcomes of a table are held to each other: it has no schema of what it decides."""

import pytest

TABLE = """
apiVersion: policyengine/v1
kind: Table
metadata: {{name: limit, version: 1.0.0, owner: us}}
spec:
  input: {{type: object, properties: {{tokens: {{type: integer}}}}, required: [tokens]}}
  hit: {hit}
  rules:
    - {{id: many, when: tokens > 10, {many}}}
    - {{id: some, when: tokens > 5, {some}}}
{rest}
"""
USUAL = "  default: {outcome: {action: go_on}}\n  on_error: {action: stop}"

TABLES = {
    "no outcome at all": (("first", "outcome: {action: stop}", "outcome: {}", USUAL), [(10, "decides no `action`")]),
    "a field of one rule": (
        ("first", "outcome: {action: stop, wait: 3}", "outcome: {action: stop}", USUAL),
        [(9, "the rule `many` decides `wait`, which most other outcomes do not")],
    ),
    "a field that on_error lacks": (
        ("first", "outcome: {action: a}", "outcome: {action: b}", "  default: {outcome: {action: c}}\n  on_error: {}"),
        [(12, "`on_error` decides no `action`")],
    ),
    "another type": (
        ("first", "outcome: {action: 3}", "outcome: {action: stop}", USUAL),
        [(9, "`action` of the rule `many` is a number, elsewhere it is a text")],
    ),
    "null has no type of its own": (("first", "outcome: {action: null}", "outcome: {action: stop}", USUAL), []),
    "worked out": (("first", "compute: {action: string(tokens)}", "outcome: {action: stop}", USUAL), []),
    "filled": (
        (
            "first",
            "outcome: {action: stop, wait: 3}",
            "outcome: {action: stop}",
            '  default: {outcome: {action: go_on}}\n  unless_set: {wait: "1"}\n  on_error: {action: stop, wait: 2}',
        ),
        [],
    ),
    "collected": (("collect", "outcome: {flag: a}", "outcome: {flag: b}", "  on_error: {matches: []}"), []),
    "collected, a slip": (
        ("collect", "outcome: {flag: a}", "outcome: {flgs: b}", "  on_error: {matches: []}"),
        [(9, "decides no `flgs`"), (10, "decides no `flag`")],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_outcomes(run, tmp_path, name):
    (hit, many, some, rest), expected = TABLES[name]
    file = tmp_path / "limit.yaml"
    file.write_text(TABLE.format(hit=hit, many=many, some=some, rest=rest), encoding="utf-8")
    found = run("lint", file, "--format", "json")
    assert found.status == 0
    findings = found.json["findings"]
    assert {one["code"] for one in findings} <= {"uneven-outcome"}, found.out
    assert [one["line"] for one in findings] == [line for line, _ in expected], found.out
    for one, (_, message) in zip(findings, expected, strict=True):
        assert message in one["message"]
