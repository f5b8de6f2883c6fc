"""What a kind decides where something fails: words in the kind, numbers and texts in its policy."""

import pytest

from policyengine.kinds.bundle import check, load
from policyengine.kinds.registry import KINDS
from policyengine.source.resources import policies_folder

STATED_IN_THE_POLICY = ("SendLimits", "ToolLimits", "SummaryPlan")


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.on_error])
def test_a_kind_of_its_own_states_no_number_and_no_text(name):
    for value in KINDS[name].on_error.values():
        assert value in (None, True, False, 0, []) or (isinstance(value, str) and " " not in value), value


@pytest.mark.parametrize("kind", STATED_IN_THE_POLICY)
def test_what_such_a_kind_decides_on_an_error_is_what_its_policy_says(kind):
    policy = load().serving(kind)
    decision = policy.decide({})
    assert decision.errors
    assert dict(decision.outcome) == policy.spec["on_error"]
    stated = decision.outcome.values()
    assert any((type(value) is int and value > 1) or (isinstance(value, str) and " " in value) for value in stated)


@pytest.mark.parametrize("kind", STATED_IN_THE_POLICY)
def test_a_policy_that_leaves_it_out_is_a_finding_in_its_place(kind, tmp_path):
    name = load().serving(kind).document.place(("kind",)).file
    text = (policies_folder() / name.rsplit("/", 1)[-1]).read_text()
    before, _, after = text.partition("\n  on_error:")
    rest = after.partition("\n  properties:")
    (tmp_path / "one.yaml").write_text(before + rest[1] + rest[2] + "\n")
    _, findings = check(tmp_path)
    assert [(one.code, one.severity.value) for one in findings] == [("schema", "error")]
    assert "`spec` lacks the key `on_error`" in findings[0].message
