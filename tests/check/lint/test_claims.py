"""Lint reads claims as it reads conditions, also where nobody runs `verify`."""

import pytest
import yaml

TABLE = """
apiVersion: policyengine/v1
kind: Table
metadata: {{name: limit, version: 1.0.0, owner: us}}
spec:
  input:
    type: object
    properties: {{tokens: {{type: integer}}}}
    required: [tokens]
  rules:
    - {{id: many, when: tokens > 10, outcome: {{action: stop}}}}
  default: {{outcome: {{action: go_on}}}}
  on_error: {{action: stop}}
  properties:
    - {claim}
"""

CLAIMS = [
    ({"assert": "tokns > 10"}, "unknown name 'tokns'"),
    ({"assert": "tokens >"}, "ends where a value is expected"),
    ({"assert": "tokens + 1"}, "a claim must be bool, this is int"),
    ({"assert": "outcome.acton == 'stop'"}, "outcome has no field 'acton'"),
    ({"assert": "rule == 3"}, "'==' does not take string and int"),
    ({"assert": "tokens > 0", "domain": "tokns > 0"}, "unknown name 'tokns'"),
    ({"assert": "tokens > 0", "accepted": {"domain": "tokns > 0", "reason": "r"}}, "unknown name 'tokns'"),
    ({"check": "no-errors", "domain": "tokns > 0"}, "unknown name 'tokns'"),
    ({"nondecreasing": "tokens"}, "`nondecreasing` is for ladders"),
    ({"assert": "tokens <= 10 || outcome.action == 'stop' || rule == 'on_error'"}, None),
    ({"check": "rules-reachable", "accepted": {"domain": "rule == 'many'", "reason": "r"}}, None),
]


@pytest.mark.parametrize(("claim", "message"), CLAIMS)
def test_a_claim_of_a_table(run, tmp_path, claim, message):
    file = tmp_path / "limit.yaml"
    written = yaml.safe_dump({"id": "it-holds", **claim}, default_flow_style=True, width=500).strip()
    file.write_text(TABLE.format(claim=written), encoding="utf-8")
    found = run("lint", file, "--format", "json")
    codes = [(one["code"], one["line"]) for one in found.json["findings"]]
    assert codes == ([("unreadable-claim", 15)] if message else []), found.out
    assert found.status == (1 if message else 0)
    assert message is None or message in found.json["findings"][0]["message"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("nondecreasing: auto", "nondecreasing: autoo", "there is no threshold, derived value or constant `autoo`"),
        ("assert: warn <= auto", "assert: wran <= auto", "unknown name 'wran'"),
        ("domain: window < 66667.0", "domain: windo < 66667.0", "unknown name 'windo'"),
    ],
)
def test_a_claim_of_a_ladder(run, tmp_path, old, new, message):
    run("init", tmp_path / "own", "--only", "Ladder", "--owner", "us")
    file = tmp_path / "own" / "ladders" / "floor.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    findings = run("lint", tmp_path / "own", "--format", "json").json["findings"]
    # Where the domain of an acceptance cannot be read, what was accepted is a finding again.
    (finding,) = (one for one in findings if one["code"] != "self-hosting")
    assert (finding["code"], message in finding["message"]) == ("unreadable-claim", True), finding
