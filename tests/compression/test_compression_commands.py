"""`policyengine compress` and `policyengine probe`."""

import json

import pytest
from compression_kit import SHARED

from policyengine.commands import model_calls
from policyengine.compression.method import Ask
from policyengine.runtime.provider import CallStarted, Finished, ProviderError, TextDelta
from policyengine.source.errors import InputError
from tests.conftest import ROOT

SAMPLE = str(ROOT / "examples" / "sample-session.jsonl")


@pytest.fixture
def compacted():
    path = SHARED / "claude-code-auto-compact.jsonl"
    if not path.exists():
        pytest.skip("../shared/sessions is not on this machine")
    return str(path)


def test_the_sample_session_without_any_model(run):
    found = run("compress", SAMPLE, "--keep-nothing")
    assert found.status == 0
    assert "Extractive summary of earlier work" in found.out
    assert "mean " in found.out


def test_json_holds_the_same(run):
    found = run("compress", SAMPLE, "--keep-nothing", "--format", "json")
    data = json.loads(found.out)
    assert (data["method"], data["author"], data["accepted"]) == ("extractive", "index", True)
    assert set(data["score"]["dimensions"]) == {
        "accuracy", "context_awareness", "artefact_trail", "completeness", "continuity", "instruction_following",
    }  # fmt: skip
    assert data["summary"].startswith("Extractive summary")
    assert data["ratio"] == pytest.approx(1 - data["tokens"]["summary"] / data["tokens"]["span"])


def test_compare_puts_all_methods_in_one_table(run, compacted):
    found = run("compress", compacted, "--compare")
    rows = [line for line in found.out.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [
        "summary", "recorded", "anchored", "regenerative", "opaque", "extractive",
    ]  # fmt: skip


def test_cycles(run, compacted):
    found = run("compress", compacted, "--cycles", "3", "--format", "json")
    rows = json.loads(found.out)["cycles"]
    assert [(row["number"], row["accepted"], row["index_whole"]) for row in rows] == [
        (n, True, True) for n in (1, 2, 3)
    ]


def test_probe_scores_the_recorded_summary(run, compacted):
    found = run("probe", compacted)
    assert "before round 103" in found.out
    assert "Which files were created, modified or deleted?" in found.out
    assert "mean 3.93 (fair)" in found.out


def test_probe_scores_a_summary_from_a_file(run, compacted, tmp_path):
    file = tmp_path / "summary.md"
    file.write_text("Nothing to say.")
    data = json.loads(run("probe", compacted, "--summary", str(file), "--format", "json").out)
    assert data["score"]["verdict"] == "poor"
    assert data["opinions"] is None


def test_probe_without_a_summary_lists_the_questions(run):
    found = run("probe", SAMPLE, "--at", "6")
    assert found.status == 0
    assert "no summary" in found.out
    assert "mean" not in found.out


MISTAKES = [
    (("compress", "none.jsonl"), "cannot be read"),
    (("compress", SAMPLE, "--at", "99999"), "give a round from 2 to"),
    (("compress", SAMPLE, "--compare", "--method", "opaque"), "--method has no effect with --compare"),
    (("compress", SAMPLE, "--cycles", "3", "--at", "4"), "--at has no effect with --cycles"),
    (("compress", SAMPLE, "--profile", "cooking"), "there is no profile"),
    (("compress", SAMPLE, "--provider", "openai"), "--provider needs --model"),
    (("compress", SAMPLE, "--model", "m"), "need --provider"),
    (("probe", SAMPLE, "--summary", "none.md"), "cannot be read"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_mistakes_are_one_line(arguments, message, run):
    found = run(*arguments)
    assert (found.status, found.out) == (2, "")
    assert message in found.err
    assert len(found.err.splitlines()) == 1


class Peer:
    """A provider that plays events and remembers the request."""

    def __init__(self, *events):
        self.events = events
        self.closed = False

    async def stream(self, request):
        self.request = request
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event

    async def close(self):
        self.closed = True


STREAMS = [
    ((TextDelta("a"), TextDelta("b"), Finished("stop", "stop")), ("ab", "stop")),
    ((TextDelta("a"), Finished("length", "length")), ("a", "length")),
    ((TextDelta("a"),), ("a", "error")),
    ((CallStarted(0, "c", "Bash"), Finished("stop", "stop")), ("", "tool_calls")),
]


@pytest.mark.parametrize(("events", "answer"), STREAMS)
def test_a_real_model_is_asked_once_a_question(events, answer, loop, monkeypatch):
    peer = Peer(*events)
    monkeypatch.setattr(model_calls, "_provider", lambda name, url: peer)
    ask = model_calls.asker(loop, "openai", "gpt-6-luna", None)
    found = ask(Ask("system", ("question", "bad answer", "repair")))
    assert (found.text, found.stop) == answer
    assert [message.role for message in peer.request.messages] == ["user", "assistant", "user"]
    assert (peer.request.system, peer.request.thinking, peer.request.tools) == ("system", "off", ())
    assert peer.request.max_output_tokens == 20_000
    assert peer.closed


def test_a_provider_that_fails_is_one_line(loop, monkeypatch):
    monkeypatch.setattr(model_calls, "_provider", lambda name, url: Peer(ProviderError("auth", "no key")))
    ask = model_calls.asker(loop, "openai", "gpt-6-luna", None)
    with pytest.raises(InputError, match="openai did not answer: no key"):
        ask(Ask("system", ("question",)))


@pytest.mark.parametrize("name", model_calls.PROVIDERS)
def test_each_provider_can_be_made_without_its_sdk_or_key(name):
    assert model_calls._provider(name, "http://localhost:1/v1").name


def test_a_session_compacted_at_its_end_says_so(run):
    last = len(run("replay", SAMPLE, "--format", "json").json["sessions"][0]["rounds"])
    for command in (("compress", SAMPLE, "--at", last + 1), ("probe", SAMPLE, "--at", last + 1)):
        assert f"after the last of {last} rounds: " in run(*command).out
    assert f"before round {last} of {last}: " in run("compress", SAMPLE, "--at", last).out
