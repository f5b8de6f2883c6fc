"""Nothing of a person's is in a log unless asked for; what a policy says is done."""

import json

import pytest

from policyengine.kinds.bundle import load
from policyengine.log.masking import Masking
from policyengine.log.record import Recorder

KEY = b"a key for tests"

TABLE = """\
apiVersion: policyengine/v1
kind: Table
metadata: {name: own, version: 1.0.0}
spec:
  input:
    type: object
    properties:
      who: {type: string}
      level: {enum: [low, high]}
      amount: {type: number}
      tool: {type: string, x-public: true}
      arguments: {type: object}
      tags: {type: array, items: {type: string}}
    required: [who]
  rules:
    - id: known
      when: who == "root"
      outcome: {allow: true, note: fixed text}
      compute: {echo: who}
  default: {outcome: {allow: false}, compute: {echo: who}}
  on_error: {allow: false}
"""

MASKING = """\
apiVersion: policyengine/v1
kind: Masking
metadata: {name: own-masking, version: 2.0.0}
spec:
  key_env: MY_LOG_KEY
  rules:
    - {id: gone, when: field == "who" && part == "input", outcome: {treatment: drop}}
    - {id: amounts, when: field == "amount", outcome: {treatment: hash}}
  default: {id: open, outcome: {treatment: keep}}
  on_error: {treatment: drop}
"""


@pytest.fixture
def own(tmp_path):
    def make(*texts):
        for number, text in enumerate(texts):
            (tmp_path / f"{number}.yaml").write_text(text, encoding="utf-8")
        return load(tmp_path)

    return make


def test_no_secret_of_a_session_is_in_the_bytes_of_its_log(run, tmp_path, secrets):
    """A planted session: prompts, tool arguments, results, keys and addresses, in every place that a policy sees."""
    words = list(secrets.values())
    messages = []
    for number, secret in enumerate(words):
        call = {"id": f"c{number}", "type": "function"}
        call["function"] = {"name": "shell", "arguments": json.dumps({"command": f"cat {secret}", secret: secret})}
        messages += [
            {"role": "user", "content": f"what is {secret}?"},
            {"role": "assistant", "content": f"I look at {secret}", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"Error: {secret}"},
            {"role": "assistant", "content": f"It is {secret}."},
        ]
    session, log = tmp_path / "planted.json", tmp_path / "log.jsonl"
    session.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    assert run("replay", session, "--log", log).status == 0
    written = log.read_bytes()
    assert written.count(b"\n") > 20
    for secret in words:
        for part in secret.split():
            if len(part) > 4:
                assert part.encode() not in written
    assert run("replay", session, "--log", log, "--log-prompts").status == 0
    assert secrets["email"].encode() in log.read_bytes()


def test_what_a_schema_pins_down_is_kept_and_other_text_is_hashed(own, made, secrets):
    bundle = own(TABLE)
    given = {
        "who": secrets["email"], "level": "low", "amount": 3.5, "tool": "grep",
        "arguments": {secrets["argument"]: secrets["key"], "pin": 1234, "on": True}, "tags": [secrets["prompt"]],
        "surprise": secrets["key"],
    }  # fmt: skip
    record = Recorder(bundle).record(made("own", given, trace=True, of=bundle))
    shown = record["input"]
    assert (shown["level"], shown["amount"], shown["tool"]) == ("low", 3.5, "grep")
    text = json.dumps(record)
    assert not [secret for secret in secrets.values() if secret in text]
    assert "1234" not in json.dumps(shown["arguments"])
    assert set(record["masked"]) == {"who", "arguments", "arguments.*", "tags[]", "*"}
    assert record["outcome"]["allow"] is False
    assert record["outcome"]["echo"].startswith("sha256:")


def test_texts_of_the_policy_itself_are_shown_where_it_decides(own, made):
    bundle = own(TABLE)
    record = Recorder(bundle).record(made("own", {"who": "root"}, of=bundle))
    assert record["outcome"]["note"] == "fixed text"
    assert record["rule"] == "known"


@pytest.mark.parametrize("value", ["hidden words", ["hidden words"], {"a": "hidden words"}])
def test_a_value_that_is_not_what_its_schema_promises_is_text(own, made, value):
    bundle = own(TABLE)
    record = Recorder(bundle).record(made("own", {"who": "x", "level": value, "amount": value}, of=bundle))
    assert "hidden" not in json.dumps(record)


def test_the_masking_policy_of_a_bundle_decides(own, made):
    bundle = own(TABLE, MASKING)
    record = Recorder(bundle).record(made("own", {"who": "ada", "amount": 7, "tags": ["x"]}, of=bundle))
    assert "who" not in record["input"]
    assert record["input"]["amount"].startswith("sha256:")
    assert record["input"]["tags"] == ["x"]
    assert record["masked"] == ["amount", "who"]
    assert record["mask_policy"] == "own-masking@2.0.0"


def test_hashes_depend_on_the_key_and_tell_equal_texts(bundle, made, monkeypatch):
    def prompt(masking):
        return Recorder(bundle, masking=masking).record(made("routing", prompt="hello"))

    one, same, other = (prompt(Masking.of(bundle, key)) for key in (KEY, KEY, b"another"))
    assert one["input"]["prompt"] == same["input"]["prompt"] != other["input"]["prompt"]
    assert one["input_digest"] == same["input_digest"] != other["input_digest"]
    assert one["mask_key"] == same["mask_key"] != other["mask_key"]
    monkeypatch.setenv("POLICYENGINE_LOG_KEY", KEY.decode())
    assert prompt(None)["input"]["prompt"] == one["input"]["prompt"]


def test_a_short_secret_cannot_be_guessed_from_its_hash(bundle, made):
    """Without a key of a person's own, every process makes one up: a plain SHA-256 of a word is no secret."""
    import hashlib

    record = Recorder(bundle).record(made("routing", prompt="yes"))
    assert hashlib.sha256(b"yes").hexdigest()[:32] not in json.dumps(record)
