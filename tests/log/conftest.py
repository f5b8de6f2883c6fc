"""Records, logs and a bundle for the tests of the log."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from log_paths import SAMPLE

from policyengine.kinds.bundle import load
from policyengine.kinds.made import Made

SECRETS = {
    "prompt": "please mail Ada Lovelace about the merger with Zyzzyx Corp",
    "email": "ada.lovelace@example.org",
    "key": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "argument": "/home/ada/very-private/plan.txt",
}


@pytest.fixture(scope="session")
def bundle():
    return load()


@pytest.fixture
def made(bundle):
    """`made(policy, input, trace=...)`: a decision of the built-in bundle."""

    def decide(name, given=None, trace=False, of=bundle, **changes):
        policy = of.policy(name)
        example = policy.input_schema.get("examples", [{}])[0]
        value = {**json.loads(json.dumps(given or example)), **changes}
        return Made(policy, value, policy.decide(value, trace=trace))

    return decide


@pytest.fixture(scope="session")
def sample_log(tmp_path_factory):
    """A log of the sample session's replay, with prompts."""
    from policyengine.check.replay import Options, rounds
    from policyengine.kinds.loop import Loop
    from policyengine.log.record import Recorder
    from policyengine.log.replay_records import records
    from policyengine.log.sinks import JsonlSink
    from policyengine.sessions import read

    path = tmp_path_factory.mktemp("sample") / "log.jsonl"
    loaded = load()
    recorder = Recorder(loaded, source="replay", show_prompts=True)
    session = read(SAMPLE)
    with JsonlSink(path) as sink:
        for row in rounds(session, Loop(loaded), Options()):
            for record in records(row, session, recorder):
                sink.write(record)
    return path


@pytest.fixture(scope="session")
def lines():
    """The records of a JSONL file."""
    return lambda path: [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def secrets():
    """What must never be in a log unless asked for."""
    return SECRETS
