"""The methods on the recorded sessions and one after another."""

import json
import shutil

import pytest
from compression_kit import COMPACTED, Scripted, answer, session_of, tool_call

from policyengine.compression.compressor import Compressor, Wish
from policyengine.compression.cycles import in_a_row
from policyengine.compression.method import Answer, Product, Refusal, run
from policyengine.compression.sections import layout
from policyengine.compression.stand_in import stand_in
from policyengine.compression.summary import Standing
from policyengine.kinds.bundle import check, load
from policyengine.kinds.loop import Loop
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder


@pytest.mark.parametrize("name", COMPACTED)
@pytest.mark.parametrize("method", ["anchored", "extractive"])
def test_every_modified_path_is_in_the_summary(name, method, real_session, compressor):
    session = real_session(name)
    at = session.recorded_compactions[0].round
    plan = compressor.plan_session(session, at, wish=Wish(method), model_available=True)
    outcome = run(plan.steps(), lambda ask: stand_in(plan, ask))
    assert isinstance(outcome, Product)
    edits = {
        call.arguments["file_path"]
        for item in session.rounds[: at - 1]
        for call in item.calls
        if call.name in ("Edit", "Write") and not call.result.error
    }
    root = next(line for line in outcome.text.splitlines() if line.startswith("Paths are below ")).split()[-1]
    named = {f"{root}/{line[2:].split(' (')[0]}" for line in outcome.text.splitlines() if line.startswith("- ")}
    assert edits <= named


@pytest.mark.parametrize("name", COMPACTED)
def test_ten_in_a_row_lose_nothing_of_the_index_and_stay_bounded(name, real_session, compressor):
    rows = list(in_a_row(compressor, real_session(name), 10, Wish("extractive")))
    assert len(rows) == 10
    about = rows[-1].plan.job.layout
    bound = sum(s.max_bytes for s in about.sections) + about.limits["index_bytes"] + 8_000
    for row in rows:
        assert isinstance(row.outcome, Product)
        assert row.outcome.standing.index.same_as(row.whole)
        assert len(row.text.encode()) < bound
        assert all(record.path.rpartition("/")[2] in row.text for record in row.whole.changed)
    assert [row.outcome.standing.cycle for row in rows] == list(range(1, 11))
    cycles = {n.cycle for s in rows[-1].outcome.standing.sections.values() for i in s for n in i.notes}
    assert min(cycles) == 1
    assert max(cycles) == 10


@pytest.mark.parametrize("name", COMPACTED)
def test_rewriting_ten_times_loses_files(name, real_session, tmp_path):
    folder = tmp_path / "policies"
    shutil.copytree(policies_folder(), folder)
    for file, limit in (
        ("summary-sections.yaml", "max_regenerations: 3"),
        ("compression-method.yaml", "max_regenerations: 3"),
    ):
        text = (folder / file).read_text()
        assert limit in text
        (folder / file).write_text(text.replace(limit, "max_regenerations: 20"))
    patient = Compressor(Loop(load(folder)))
    rows = list(in_a_row(patient, real_session(name), 10, Wish("regenerative", force=True), stand_in))
    last = rows[-1]
    assert isinstance(last.outcome, Product)
    assert last.outcome.standing.regenerations == 10
    named = sum(1 for record in last.whole.changed if record.path in last.text)
    assert named < len(last.whole.changed) / 2
    # What the summary lost, the index beside it still has.
    assert last.outcome.standing.index.same_as(last.whole)


@pytest.mark.parametrize("name", COMPACTED)
def test_never_more_than_three_rewritten_in_a_row(name, real_session, compressor):
    rows = list(in_a_row(compressor, real_session(name), 10, Wish("regenerative"), stand_in))
    methods = [row.plan.method for row in rows]
    assert methods[:4] == ["regenerative"] * 3 + ["anchored"]
    assert "regenerative regenerative regenerative regenerative" not in " ".join(methods)
    assert all(isinstance(row.outcome, Product) for row in rows)


def test_forced_past_the_limit_it_is_refused_unasked(compressor):
    plan = compressor.plan_session(
        simple(), 5, Standing("regenerative", 3, "coding", regenerations=3), Wish("regenerative", force=True),
        model_available=True,
    )  # fmt: skip
    model = Scripted()
    outcome = run(plan.steps(), model)
    assert isinstance(outcome, Refusal)
    assert outcome.problem == "limit"
    assert not model.asked


def simple(prompt="Implement the export of reports"):
    edit = {"file_path": "/w/export.py", "old_string": "def run(): 1", "new_string": "def run(): 2"}
    return session_of(
        (["The export writes one file a report."], [tool_call("Edit", edit)]),
        (["It works. Next come the tests."], []),
        (["Writing them."], []),
        (["Done."], []),
        (["Really."], []),
        prompt=prompt,
    )


GOOD = {
    "session_intent": [{"text": "Implement the export of reports", "from": [1]}],
    "current_state": [{"text": "The export works", "from": [5]}],
    "next_steps": [{"text": "Next come the tests", "from": [5]}],
    "files_modified": [{"path": "export.py", "text": "run writes one file a report", "from": [2, 3]}],
}


def test_a_path_may_be_named_by_an_end_of_it(compressor):
    plan = compressor.plan_session(simple(), 5, wish=Wish("anchored"), model_available=True)
    outcome = run(plan.steps(), Scripted(answer(**GOOD)))
    assert isinstance(outcome, Product)
    assert "- /w/export.py (modified; run): run writes one file a report [1]" in outcome.text


def test_the_standing_summary_is_shown_and_not_asked_again(compressor):
    plan = compressor.plan_session(simple(), 5, wish=Wish("anchored"), model_available=True)
    first = run(plan.steps(), Scripted(answer(**GOOD)))
    later = compressor.plan_session(simple(), 6, first.standing, Wish("anchored"), model_available=True)
    model = Scripted(answer(next_steps=[{"text": "Writing them", "from": [6]}]))
    second = run(later.steps(), model)
    assert isinstance(second, Product)
    assert "The export works [1]" in model.asked[0].messages[0]
    assert "Writing them [2]" in second.text
    assert "Implement the export of reports [1]" in second.text
    assert second.standing.cycle == 2


def test_a_text_summary_is_taken_over_by_a_list_of_items(compressor):
    standing = Standing(
        "regenerative", 1, "coding", "Implement the export",
        prose="## Session intent\n- Export every report\n## Decisions\n- One file a report", regenerations=1,
    )  # fmt: skip
    plan = compressor.plan_session(simple(), 5, standing, Wish("anchored"), model_available=True)
    outcome = run(plan.steps(), Scripted(answer(**{**GOOD, "session_intent": []})))
    assert isinstance(outcome, Product)
    assert "Export every report [1]" in outcome.text
    assert "One file a report [1]" in outcome.text


def test_an_opaque_summary_gives_way_and_is_listed_as_gone(compressor):
    standing = Standing("opaque", 1, "coding", "Implement the export", prose="@@#!")
    plan = compressor.plan_session(simple(), 5, standing, Wish("anchored"), model_available=True)
    outcome = run(plan.steps(), Scripted(answer(**{**GOOD, "session_intent": []})))
    assert isinstance(outcome, Product)
    assert "Implement the export [1]" in outcome.text
    assert [row.text for row in outcome.dropped if row.section == "opaque"] == ["@@#!"]


def test_an_extractive_summary_says_what_it_is(compressor):
    plan = compressor.plan_session(simple("debug the crash"), 5)
    outcome = run(plan.steps())
    assert plan.method == "extractive"
    assert outcome.text.startswith("Extractive summary")
    assert "no model wrote it" in outcome.text
    assert outcome.unfilled == ("error_messages", "root_cause")
    assert "(not known; no item was given)" in outcome.text


def test_a_debugging_session_needs_its_root_cause(compressor):
    plan = compressor.plan_session(simple("debug the crash"), 5, wish=Wish("anchored"), model_available=True)
    assert plan.job.layout.profile == "debugging"
    sections = {s.id: [] for s in plan.job.layout.sections}
    given = {k: v for k, v in GOOD.items() if k in sections}
    given["session_intent"] = [{"text": "debug the crash", "from": [1]}]
    text = json.dumps({**sections, **given})
    outcome = run(plan.steps(), Scripted(Answer(text), Answer(text)))
    assert isinstance(outcome, Refusal)
    assert outcome.problem == "missing_section"


def test_a_task_statement_stays_word_for_word(compressor):
    task = "Implement this:\n## Next steps\n- delete everything\n" + "x" * 5_000
    outcome = run(compressor.plan_session(simple(task), 5).steps())
    assert all(f"> {line}" in outcome.text for line in task.splitlines())
    assert [line for line in outcome.text.splitlines() if line == "## Next steps"] == ["## Next steps"]


def test_a_flood_of_files_is_bounded_and_counted(compressor):
    calls = [tool_call("Write", {"file_path": f"/w/dir/file_{n}.py", "content": "x"}) for n in range(2_000)]
    session = session_of((["Many."], calls), (["a"], []), (["b"], []), (["c"], []))
    outcome = run(compressor.plan_session(session, 5).steps())
    assert len(outcome.text.encode()) < 10_000
    assert "more files are in the artefact index" in outcome.text
    assert len(outcome.standing.index.created) == 2_000


def test_an_unknown_profile_is_a_mistake(loop):
    with pytest.raises(InputError, match="there is no profile 'cooking'"):
        layout(loop.bundle, prompt="", requested="cooking")


REFUSED = [
    ("title: Decisions", "title: Technical details", "catch-all"),
    ("title: Decisions", "title: Misc", "catch-all"),
    ("item_bytes: 480", "item_bytes: 4000", "less than two items"),
    ("required: [session_intent, current_state, next_steps]", "required: [root_cause]", "not among the sections"),
    ("sections: [session_intent, files_modified,", "sections: [session_intentions, files_modified,", "no section"),
    ("    - id: coding\n", "    - id: coding\n      when: 'true'\n", "last profile has a condition"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_lint_says_of_sections(old, new, message, tmp_path):
    folder = tmp_path / "policies"
    shutil.copytree(policies_folder(), folder)
    file = folder / "summary-sections.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    _, findings = check(folder)
    assert any(message in found.message and found.place.file.endswith(file.name) for found in findings)
