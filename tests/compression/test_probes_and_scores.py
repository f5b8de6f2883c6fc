"""Probes: known answers, what a text states, and scores that follow from both."""

import pytest
from compression_kit import COMPACTED, Scripted, entry, session_of, tool_call

from policyengine.compression import probing
from policyengine.compression.answer import Claim
from policyengine.compression.grounding import Grounding
from policyengine.compression.history import entries
from policyengine.compression.judge import judged, read_opinion
from policyengine.compression.method import Answer
from policyengine.compression.scoring import score
from policyengine.compression.stated import stated, vocabulary
from policyengine.compression.trial import Trials

FILES = ("/w/src/a.py", "/w/src/b.py", "/w/lib/a.py", "/w/mix.exs", "/w/.ignore")


@pytest.fixture
def words(loop):
    return vocabulary(loop)


STATED = [
    # (text, field, files that it states so)
    ("- src/a.py (modified; run)", "changed", {"/w/src/a.py"}),
    ("- `/w/src/b.py` — New module", "created", {"/w/src/b.py"}),
    ("- b.py", "named", {"/w/src/b.py"}),
    ("- a.py was changed", "named", set()),
    ("## Files only read\nmix.exs, src/b.py", "read", {"/w/mix.exs", "/w/src/b.py"}),
    ("Read src/a.py, later edited src/a.py", "changed", {"/w/src/a.py"}),
    ("Read src/a.py, later edited src/a.py", "read", set()),
    ("- **src/a.py**\n  - Added a guard\n- other", "changed", {"/w/src/a.py"}),
    ("- **src/a.py**\n- Added a guard", "changed", set()),
    ("8. Current Work:\n   src/a.py is half done", "current", {"/w/src/a.py"}),
    ("Changed and in no commit: b.py", "current", {"/w/src/b.py"}),
    ("the folder src/new/a.py", "named", set()),
    ("see src/modified/c.py", "changed", set()),
    (".ignore was created", "created", {"/w/.ignore"}),
]


@pytest.mark.parametrize(("text", "field", "files"), STATED, ids=[row[0][:30] for row in STATED])
def test_what_a_text_states_of_files(text, field, files, words):
    assert getattr(stated(text, FILES, words), field) == files


def test_paths_of_nobody_are_strangers(words):
    found = stated("- src/a.py and src/none.py, not 1/2 or and/or", FILES, words)
    assert found.strangers == {"src/none.py"}


@pytest.fixture
def index(indexer):
    edit = {"file_path": "/w/a.py", "old_string": "def run(): 1", "new_string": "def run(): 2"}
    look = tool_call("Read", {"file_path": "/w/b.py"})
    return indexer.of(
        session_of(
            (["We use `sqlite3` instead of Postgres."], [tool_call("Edit", edit), look]),
            ((), [tool_call("Bash", {"command": "make"}, "Exit code 2\nValueError: no key", error=True)]),
            prompt="Implement TICKET_42 for the export",
        )
    )  # fmt: skip


def scored(loop, words, index, text, history=""):
    return score(loop.bundle, probing.build(loop.bundle, index), text, list(index.files), words, history)


def test_the_questions_have_their_known_answers(loop, index):
    found = {probe.id: probe.answer for probe in probing.build(loop.bundle, index).probes}
    assert found["changed_files"] == ("/w/a.py",)
    assert found["read_files"] == ("/w/b.py",)
    assert found["symbols"] == ("run",)
    assert found["error"] == ("2", "ValueError")
    assert "TICKET_42" in found["latest_request"]
    assert found["decision"] == ("sqlite3",)
    assert found["uncommitted"] == ("/w/a.py",)


WHOLE = """# Summary
Implement TICKET_42. Decided on sqlite3.
## Current state
a.py (modified; run) is not committed. Exit code 2, ValueError is open.
## Files only read
b.py
"""


def test_a_summary_that_states_everything_has_full_marks(loop, words, index):
    found = scored(loop, words, index, WHOLE)
    assert found.mean == 5.0
    assert found.verdict == "good"
    assert not [row.missing for row in found.probes if row.missing]


def test_a_summary_that_states_nothing_has_none(loop, words, index):
    found = scored(loop, words, index, "Much was done and all of it went well.")
    assert found.mean == 0.0
    assert found.verdict == "poor"


def test_a_longer_name_is_not_the_name(loop, words, index):
    found = scored(loop, words, index, WHOLE.replace("run)", "running)").replace("ValueError", "MyValueErrors"))
    missing = {name for row in found.probes for name in row.missing}
    assert {"run", "ValueError"} <= missing


def test_many_words_in_common_are_no_answer(loop, words, index):
    found = scored(loop, words, index, "Implement the export. The key, the code, the error and the use of a database.")
    assert found.mean == 0.0


def test_a_file_wrongly_said_to_be_changed_costs_precision(loop, words, index):
    right = scored(loop, words, index, WHOLE)
    wrong = scored(loop, words, index, WHOLE.replace("## Files only read\nb.py", "b.py was modified"))
    assert wrong.dimensions["artefact_trail"] < right.dimensions["artefact_trail"]
    changed = next(row for row in wrong.probes if row.probe.id == "changed_files")
    assert (changed.precision, changed.recall) == (0.5, 1.0)


def test_a_path_that_never_was_costs_precision_unless_the_history_has_it(loop, words, index):
    invented = WHOLE + "\nlib/none.py was modified"
    assert scored(loop, words, index, invented).strangers == ("lib/none.py",)
    assert scored(loop, words, index, invented, history="ls: lib/none.py").strangers == ()


@pytest.mark.parametrize("name", COMPACTED)
def test_every_kind_of_probe_on_the_recorded_sessions(name, real_session, compressor):
    trials = Trials(compressor, real_session(name))
    probes = trials.probes().probes
    assert {probe.kind for probe in probes} == {"recall", "artefact", "continuation", "decision"}
    recorded = trials.recorded()
    assert 0 < recorded.score.mean < 5
    assert all(value is not None for value in recorded.score.dimensions.values())
    # The product named every file it changed; what it lost are read files, symbols and codes.
    changed = next(row for row in recorded.score.probes if row.probe.id == "changed_files")
    assert changed.recall == 1.0
    assert recorded.score.dimensions["artefact_trail"] < 4


@pytest.mark.parametrize("name", COMPACTED)
def test_all_methods_beside_the_recorded_summary(name, real_session, compressor):
    rows = {row.method: row for row in Trials(compressor, real_session(name)).compare()}
    assert list(rows) == ["recorded", "anchored", "regenerative", "opaque", "extractive"]
    trail = {name: row.score.dimensions["artefact_trail"] for name, row in rows.items()}
    assert trail["anchored"] == trail["extractive"] == 5.0
    assert trail["opaque"] < 0.5 < trail["regenerative"] < trail["recorded"]
    assert all(row.ratio > 0.95 for row in rows.values())
    assert {row.author for row in rows.values()} == {"recorded", "stand-in", "index"}


OPINIONS = [
    ('{"score": 0.5}', "stop", 0.5),
    ('```json\n{"score": 1}\n```', "stop", 1.0),
    ('{"score": 0.5}', "length", None),
    ('{"score": 7}', "stop", None),
    ('{"score": true}', "stop", None),
    ('{"score": 0.5, "why": "x"}', "stop", None),
    ("It is good.", "stop", None),
    ("", "stop", None),
    ("9" * 10_000, "stop", None),
]


@pytest.mark.parametrize(("text", "stop", "value"), OPINIONS)
def test_opinions(text, stop, value):
    assert read_opinion(Answer(text, stop)) == value


def test_a_judge_is_asked_once_a_probe(loop, index):
    probes = probing.build(loop.bundle, index).probes
    model = Scripted(*[Answer('{"score": 1}')] * len(probes))
    assert [value for _, value in judged(loop.bundle, probes, "the summary {answer}", model)] == [1.0] * len(probes)
    assert all("the summary {answer}" in ask.messages[0] for ask in model.asked)


@pytest.mark.parametrize(("name", "lines", "few"), list(zip(COMPACTED, (73, 87), (1, 4), strict=True)))
def test_what_a_real_model_wrote_would_stand(name, lines, few, real_session, compressor):
    """The recorded summaries as claims, each citing the entries that hold most of its words: the bounds refuse few."""
    session = real_session(name)
    at = session.recorded_compactions[0].round
    text = entries(session, at + 1)[0].text.split("Summary:\n")[-1]
    said = [line.strip(" -*") for line in text.splitlines() if line.strip().startswith("- ")]
    index = compressor.indexer.of(session, at)
    about = compressor.layout(index)
    grounding = Grounding(about, entries(session, at), index)
    section = about.section("current_state")
    known = grounding.words_of()
    refused = []
    for line in said:
        telling = grounding.telling(line)
        sources, covered = [], set()
        for _ in range(3):
            best = max(known, key=lambda number: len((known[number] & telling) - covered))
            sources.append(best)
            covered |= known[best] & telling
        if grounding.problem(section, Claim(section.id, line, tuple(sources))) is not None:
            refused.append((grounding.problem(section, Claim(section.id, line, tuple(sources))), line))
    assert len(said) == lines
    assert len(refused) == few, refused


def test_an_entry_of_nobody_is_not_cited(compressor, index):
    grounding = Grounding(compressor.layout(index), [entry(1, "user", "fix it")], index)
    section = compressor.layout(index).section("session_intent")
    assert grounding.problem(section, Claim("session_intent", "fix it", (1,))) is None
    assert grounding.problem(section, Claim("session_intent", "fix it", (2,))) is not None
