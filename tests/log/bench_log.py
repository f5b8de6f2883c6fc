"""Measurements of the log for `make bench`: `rows()` gives one dict a measurement.

Each has `name`, `ratio` (to `against`, measured in the same run) and `unit`, `value`: the absolute figure of this
machine.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from policyengine.source.counts import thousands

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "examples" / "sample-session.jsonl"
_GOAL_S = 3
"""In which a million records are to be counted, s."""


def rows(records: int = 1_000_000) -> list[dict[str, object]]:
    """Every measurement. `records` is the size of the log that is counted and decided again."""
    with tempfile.TemporaryDirectory(prefix="policyengine-bench-") as folder:
        path = Path(folder) / "log.jsonl"
        found = [*writing()]
        large_log(path, records)
        return [*found, *stats(path, records), *redeciding(path, records)]


def writing(decisions: int = 20_000) -> list[dict[str, object]]:
    """What logging one decision costs the deciding thread, against `json.dumps` of the record that comes of it."""
    from policyengine.kinds.bundle import load
    from policyengine.kinds.made import Made
    from policyengine.log.chain import body
    from policyengine.log.record import Recorder
    from policyengine.log.settings import open_sink
    from policyengine.log.writer import Log

    bundle = load()
    policy = bundle.policy("routing")
    given = policy.input_schema["examples"][0]
    made = Made(policy, given, policy.decide(given))
    recorder = Recorder(bundle, source="runtime")
    record = recorder.record(made, session_id="s", round=1)
    dumps = _each(lambda: json.dumps(record), decisions)
    with tempfile.TemporaryDirectory(prefix="policyengine-bench-") as folder:
        log = Log(recorder, [open_sink(Path(folder) / "log.jsonl")], at_exit=False)
        cpu = wall = 0.0
        done = 0
        while done < decisions:
            # In bursts that the queue takes: what is measured is putting, not waiting for the other thread.
            clock, began = time.thread_time(), time.perf_counter()
            for _ in range(500):
                log.decided(made, session_id="s", round=1)
            cpu += time.thread_time() - clock
            wall += time.perf_counter() - began
            done += 500
            log.flush()
        log.close()
    whole = _each(lambda: body(recorder.record(made, session_id="s", round=1)), decisions // 4)
    against = f"json.dumps of the same record ({dumps * 1e6:.1f} µs)"
    return [
        {**_row("log a decision, cost to the deciding thread", cpu / done, dumps, against), "goal": "20 µs"},
        _row("log a decision, wall time of the deciding thread", wall / done, dumps, against),
        _row("build, mask and encode a record (the writing thread)", whole, dumps, against),
    ]


def stats(path: Path, records: int) -> list[dict[str, object]]:
    """`policyengine log stats` over a whole log, against parsing each line with the json module."""
    code = "from policyengine.commands import main; main()"
    command = [sys.executable, "-c", code, "log", "stats", str(path), "--format", "json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert found["records"] == records
    clock = time.process_time()
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
    parsing = time.process_time() - clock
    goal = _GOAL_S * records / 1_000_000
    return [
        {
            "name": f"log stats of {thousands(records)} records, cold",
            "value": round(wall * 1000),
            "unit": "ms",
            "ratio": round(wall / goal, 3),
            "against": "the goal; wall time, on all processors",
            "goal": f"{goal * 1000:.0f} ms",
        },
        _row("log stats, processor time a record", cpu / records, parsing / records, "json.loads of each line"),
    ]


def redeciding(path: Path, records: int) -> list[dict[str, object]]:
    """Records decided again in a second, locally and on a local Ray of two workers where it is installed."""
    found = []
    rates = {}
    for engine in ("local", "ray"):
        if engine == "ray":
            try:
                import ray  # noqa: F401
            except ImportError:
                found.append({"name": "decide again on Ray", "skipped": "Ray is not installed"})
                continue
        code = "from policyengine.commands import main; main()"
        command = [sys.executable, "-c", code, "replay", str(path), "--engine", engine, "--format", "json"]
        began = time.perf_counter()
        digest = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["digest"]
        rates[engine] = records / (time.perf_counter() - began), digest
        rate = rates[engine][0]
        found.append(
            {
                "name": f"decide again, {engine}",
                "value": round(rate),
                "unit": "records/s",
                "ratio": round(rate / rates["local"][0], 3),
                "against": "local",
                "digest": digest,
            }
        )
    assert len({digest for _, digest in rates.values()}) == 1
    return found


def large_log(path: Path, records: int) -> None:
    """A log of so many records: the sample session again and again, each time as another session."""
    from policyengine.check.replay import Options, rounds
    from policyengine.kinds.bundle import load
    from policyengine.kinds.loop import Loop
    from policyengine.log.chain import Chain, body
    from policyengine.log.record import Recorder
    from policyengine.log.replay_records import records as replayed
    from policyengine.sessions import read

    bundle, session = load(), read(SAMPLE)
    recorder = Recorder(bundle, source="replay", show_prompts=True)
    every = [one for row in rounds(session, Loop(bundle), Options()) for one in replayed(row, session, recorder)]
    chain = Chain()
    with path.open("wb") as file:
        for number in range(records):
            name = f"session-{number // len(every)}"
            record = dict(every[number % len(every)])
            turn = f"{name}/{record['turn_id'].rpartition('/')[2]}"
            record.update(session_id=name, turn_id=turn, prompt_id=turn)
            file.write(chain.line(body(record)) + b"\n")


def _each(work: object, times: int) -> float:
    assert callable(work)
    clock = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - clock) / times


def _row(name: str, seconds: float, against_seconds: float, against: str) -> dict[str, object]:
    return {
        "name": name,
        "value": round(seconds * 1e6, 2),
        "unit": "µs",
        "ratio": round(seconds / against_seconds, 3),
        "against": against,
    }


if __name__ == "__main__":
    for row in rows(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000):
        print(json.dumps(row, ensure_ascii=False))
