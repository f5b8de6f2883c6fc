"""The methods behind the adapter's interface."""

import asyncio
import json

from compression_kit import Scripted

from policyengine.compression.compressor import Wish
from policyengine.compression.summary import Standing
from policyengine.runtime.compressing import CompressingSummarizer
from policyengine.runtime.messages import Call, Message, Result, Text
from policyengine.runtime.summarizer import SummaryAnswer, SummaryJob

EDIT = {"file_path": "/w/export.py", "old_string": "def run(): 1", "new_string": "def run(): 2"}
HISTORY = (
    Message("user", (Text("Implement the export of reports"),), "p1"),
    Message("assistant", (Text("The export writes one file a report."), Call("c1", "Edit", EDIT))),
    Message("tool", (Result("c1", "Edit", (Text("done"),)),)),
    Message("assistant", (Text("The export works. Next come the tests."),)),
)
GOOD = {
    "session_intent": [{"text": "Implement the export of reports", "from": [1]}],
    "files_modified": [{"path": "/w/export.py", "text": "run writes one file a report", "from": [2, 3]}],
    "decisions": [],
    "error_messages": [],
    "current_state": [{"text": "The export works", "from": [5]}],
    "next_steps": [{"text": "Next come the tests", "from": [5]}],
}


def answers(*rows):
    return Scripted(*(row if isinstance(row, SummaryAnswer) else SummaryAnswer("stop", row, 10) for row in rows))


def summarize(summarizer, messages, script):
    async def call(asked):
        return script(asked)

    return asyncio.run(summarizer.summarize(SummaryJob(messages, "Summarise.", 20_000, call)))


def anchored(loop, **about):
    return CompressingSummarizer(loop.bundle, wish=Wish("anchored"), **about)


def test_a_good_answer_becomes_the_summary(loop):
    script = answers(json.dumps(GOOD))
    found = summarize(anchored(loop), HISTORY, script)
    assert (found.stop_reason, found.output_tokens) == ("stop", 10)
    assert "- /w/export.py (modified; run): run writes one file a report [1]" in found.text
    assert "> Implement the export of reports" in found.text
    (first,) = script.asked
    assert first[0].blocks[0].text.startswith("You write the memory of a coding agent.")


def test_what_was_proposed_counts_only_once_it_stands(loop):
    summarizer = anchored(loop)
    found = summarize(summarizer, HISTORY, answers(json.dumps(GOOD)))
    assert summarizer.standing.cycle == 0
    # The policies refused it: the history is as it was, and so is what stands.
    again = summarize(summarizer, HISTORY, answers(json.dumps(GOOD)))
    assert again.text == found.text
    after = (
        Message("user", (Text("Earlier work.\n" + found.text),), summary=True),
        Message("user", (Text("Now add the tests for reports"),), "p2"),
        Message("assistant", (Text("Adding the tests for reports now."),)),
    )
    later = {**GOOD, "session_intent": [], "files_modified": []}
    later["current_state"] = [{"text": "Adding the tests for reports", "from": [3]}]
    later["next_steps"] = [{"text": "add the tests for reports", "from": [2]}]
    second = summarize(summarizer, after, answers(json.dumps(later)))
    assert summarizer.standing.cycle == 1
    assert "compaction 2" in second.text
    assert "- /w/export.py (modified; run): run writes one file a report [1]" in second.text
    assert "Adding the tests for reports [2]" in second.text


def test_refused_answers_are_failures_of_their_kind(loop):
    kinds = {
        "rejected": ("prose", "prose again"),
        "length": (SummaryAnswer("length", json.dumps(GOOD)),) * 2,
        "tool_calls": (SummaryAnswer("tool_calls", ""),) * 2,
        "stop": ("", ""),
        "error": (SummaryAnswer("error"),) * 2,
    }
    for stop, rows in kinds.items():
        found = summarize(anchored(loop), HISTORY, answers(*rows))
        assert (found.stop_reason, found.text) == (stop, "")


def test_one_repair(loop):
    script = answers("Here is your summary!", json.dumps(GOOD))
    assert summarize(anchored(loop), HISTORY, script).stop_reason == "stop"
    assert [message.role for message in script.asked[1]] == ["user", "assistant", "user"]


def test_the_rescue_needs_no_model(loop):
    found = summarize(anchored(loop, rescue=True), HISTORY, answers("prose", "prose"))
    assert found.stop_reason == "stop"
    assert found.text.startswith("Extractive summary")
    assert "/w/export.py" in found.text


def test_what_stands_can_be_stored_and_taken_up(loop):
    summarizer = anchored(loop)
    found = summarize(summarizer, HISTORY, answers(json.dumps(GOOD)))
    after = (
        Message("user", (Text(found.text),), summary=True),
        Message("assistant", (Text("Adding the tests for reports now."),)),
    )
    stored = json.dumps(summarizer._proposed[1].as_json())
    resumed = anchored(loop, standing=Standing.from_json(json.loads(stored)))
    later = {**GOOD, "session_intent": [], "files_modified": []}
    later["current_state"] = later["next_steps"] = [{"text": "Adding the tests for reports", "from": [2]}]
    second = summarize(resumed, after, answers(json.dumps(later)))
    assert "compaction 2" in second.text
    assert "/w/export.py (modified; run)" in second.text
