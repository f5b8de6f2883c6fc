"""A bundle that holds only what a team changes: the built-in one serves for every kind that it lacks."""

import pytest

from policyengine.kinds.bundle import builtin, check, load
from policyengine.kinds.loop import Loop
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder

HEAD = "apiVersion: policyengine/v1\nkind: {}\nmetadata: {{name: {}, version: 1.0.0, owner: us, description: Ours.}}\n"
MANIFEST = HEAD.format("Bundle", "ours") + "spec: {extends: built-in, USE}\n"
GATE = HEAD.format("CompactionGate", "own-gate") + "spec: {rules: [{id: never, outcome: {compact: false}}]}\n"
WORDS = HEAD.format("WordLists", "own-words") + "spec: {words: {sweets: {latin: [nougat]}, action: {latin: [knead]}}}\n"
SWEET = """\
spec:
  input: {type: object, properties: {text: {type: string}}, required: [text]}
  rules: [{id: sweet, when: text.mentions(words.sweets) || text.mentions(words.LIST), outcome: {sweet: true}}]
  default: {outcome: {sweet: false}}
  on_error: {sweet: false}
"""


@pytest.fixture
def bundle(tmp_path):
    def written(use="", **files):
        (tmp_path / "bundle.yaml").write_text(MANIFEST.replace("USE", use))
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(text)
        return tmp_path

    return written


def test_a_kind_of_its_own_replaces_the_built_in_one_and_the_others_are_there(bundle):
    found = load(bundle(gate=GATE))
    assert list(found.policies) == ["own-gate"]
    assert found.serving("CompactionGate").name == "own-gate"
    assert found.serving("Routing") is builtin().serving("Routing")
    assert found.policy("tips") is builtin().policy("tips")
    with pytest.raises(InputError, match="no policy `compaction-gate`"):  # its kind is replaced
        found.policy("compaction-gate")


def test_a_session_is_decided_by_both(bundle):
    loop = Loop(load(bundle(gate=GATE)))
    assert loop.gate.name == "own-gate"
    assert loop.thresholds(200_000) == Loop(builtin()).thresholds(200_000)


def test_what_serves_of_the_inherited_is_chosen_as_ever(bundle):
    assert load(bundle()).serving("Ladder").name == builtin().use["Ladder"]
    assert load(bundle("use: {Ladder: ceiling}")).serving("Ladder").name == "ceiling"


def test_word_lists_are_replaced_by_name(bundle):
    text = HEAD.format("Table", "sweet") + SWEET.replace("LIST", "action")
    found = load(bundle(words=WORDS, sweet=text))
    cases = {"nougat": True, "knead it": True, "refactor it": False}
    assert {given: found.policy("sweet").outcome({"text": given})["sweet"] for given in cases} == cases
    inherited = HEAD.format("Table", "other") + SWEET.replace("LIST", "english")
    assert check(bundle(other=inherited))[1] == []


def test_everything_that_decides_is_in_the_digest(bundle):
    digests = {load(bundle()).digest, load(bundle("use: {Ladder: ceiling}")).digest, load(bundle(gate=GATE)).digest}
    assert len(digests | {builtin().digest}) == 4


# files, place, what the finding says
WRONG = {
    "another bundle": ({"bundle": MANIFEST.replace("built-in, USE", "default")}, "4:17", "built-in"),
    "a choice of what is not there": ({"bundle": MANIFEST.replace("USE", "use: {Ladder: ceilin}")}, "4:41", "ceiling"),
    "a choice of what is replaced": (
        {"bundle": MANIFEST.replace("USE", "use: {CompactionGate: compaction-gate}"), "gate": GATE}, "4:49", "own-gate",
    ),
    "a name that another kind has": (
        {"bundle": MANIFEST.replace(", USE", ""), "gate": GATE.replace("own-gate", "tips")}, "3:18", "calls a Tips so",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_it(tmp_path, case):
    files, place, said = WRONG[case]
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (finding,) = [one for one in check(tmp_path)[1] if one.severity == "error"]
    assert f"{finding.place.line}:{finding.place.column}" == place
    assert said in f"{finding.message} {finding.hint}"


def test_without_it_a_missing_kind_is_said_with_the_way_out(tmp_path):
    (tmp_path / "gate.yaml").write_text(GATE)
    with pytest.raises(InputError, match=r"no policy of kind Routing; write one, or .*extends: built-in"):
        load(tmp_path).serving("Routing")


def test_commands_take_it(run, bundle):
    folder = bundle("use: {Ladder: ceiling}", gate=GATE)
    assert "ladder ceiling" in run("context", "--bundle", folder, "--window", 128_000).out
    assert run("eval", "--bundle", folder, "routing", "--example").status == 0
    assert run("lint", folder).status == 0
    assert "`ceiling` serves instead of `floor`" in run("diff", policies_folder(), folder).out


def test_lint_knows_the_inherited_catalogues(run, bundle):
    routing = (policies_folder() / "routing.yaml").read_text().replace("name: routing", "name: own-routing", 1)
    wrong = routing.replace("  fast_models:\n", "  fast_models:\n    claude-opus-5-5: claude-haiku-9\n", 1)
    assert "claude-haiku-9" in run("lint", bundle(routing=wrong)).out
