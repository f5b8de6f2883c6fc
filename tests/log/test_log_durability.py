"""What a log holds after its process was killed, ended, or could not write."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from policyengine.kinds.bundle import load
from policyengine.log.check import check
from policyengine.log.read import records
from policyengine.log.record import Recorder
from policyengine.log.settings import logging_policy, open_sink
from policyengine.log.sinks import JsonlSink, SinkError
from policyengine.log.writer import Log, LogError
from policyengine.source.errors import InputError

CHILD = Path(__file__).with_name("writing_child.py")


def start(path, mode="run"):
    child = subprocess.Popen([sys.executable, str(CHILD), str(path), mode], stdout=subprocess.PIPE, text=True)
    if mode != "exit":
        assert child.stdout.readline() == "ready\n"
    return child


def ended(child, number):
    """Send a signal; the acknowledged count the child said last, without what was cut off."""
    child.send_signal(number)
    said = child.stdout.read()
    child.wait(20)
    whole = said[: said.rfind("\n") + 1].split()
    return int(whole[-1]) if whole else 0


def kill_while_writing(path, times):
    """Kill a writer again and again, on one log; each time every acknowledged record has to be there."""
    before = 0
    for attempt in range(times):
        child = start(path)
        time.sleep(0.02 + 0.013 * (attempt % 7))
        acknowledged = ended(child, signal.SIGKILL)
        numbers = [record["round"] for record in records(path)]
        mine = numbers[before:]
        assert len(mine) >= acknowledged
        assert mine == list(range(1, len(mine) + 1))
        checked = check([path])
        assert all(problem.kind == "torn" for problem in checked.problems), checked.problems
        assert checked.records == checked.last_seq == len(numbers)
        before = len(numbers)
    assert before > 0


@pytest.mark.parametrize("name", ["log.jsonl", "log.sqlite"])
def test_kill_9_loses_no_acknowledged_record(tmp_path, name):
    kill_while_writing(tmp_path / name, 2)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["log.jsonl", "log.sqlite"])
def test_kill_9_twenty_times_loses_no_acknowledged_record(tmp_path, name):
    kill_while_writing(tmp_path / name, 20)


@pytest.mark.parametrize("mode", ["plain", "handled"], ids=["no handler of its own", "a handler of its own"])
def test_sigterm_writes_what_was_put_in(tmp_path, mode):
    path = tmp_path / "log.jsonl"
    child = start(path, mode)
    time.sleep(0.1)
    acknowledged = ended(child, signal.SIGTERM)
    assert child.returncode == (-signal.SIGTERM if mode == "plain" else 0)
    assert len(list(records(path))) >= acknowledged > 0
    assert check([path]).problems == []


def test_the_end_of_the_process_writes_what_was_put_in(tmp_path):
    path = tmp_path / "log.jsonl"
    child = start(path, "exit")
    assert child.wait(20) == 0
    assert [record["round"] for record in records(path)] == list(range(1, 501))


# A sink that fails


def settings(tmp_path, **changes):
    """The built-in Logging policy with other values in its text."""
    text = (load().path / "logging.yaml").read_text(encoding="utf-8")
    for before, after in changes.values():
        assert before in text
        text = text.replace(before, after)
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "logging.yaml").write_text(text, encoding="utf-8")
    return logging_policy(load(folder))


STOP = {"stop": ("id: write_failed\n    outcome: {action: drop}", "id: write_failed\n    outcome: {action: stop}")}


def full_disk(monkeypatch, room):
    """Writes to the system fail, as on a full disk, after `room` bytes: the last one is cut off midway."""
    left = [room]
    write = os.write

    def limited(fd, data):
        if stat.S_ISREG(os.fstat(fd).st_mode):
            if left[0] <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[: left[0]]
            left[0] -= len(data)
        return write(fd, data)

    monkeypatch.setattr(os, "write", limited)
    return left


def test_a_full_disk_loses_records_counts_them_and_corrupts_nothing(tmp_path, made, bundle, monkeypatch):
    path = tmp_path / "log.jsonl"
    log = Log(Recorder(bundle), [open_sink(path)], at_exit=False)
    left = full_disk(monkeypatch, 10_000)
    for number in range(1, 101):
        log.decided(made("floor"), round=number)
        log.flush(5)
    lost = log.dropped
    assert 0 < lost < 100
    left[0] = 1_000_000
    log.decided(made("floor"), round=101)
    log.close()
    found = list(records(path))
    assert len(found) + lost == 101
    assert found[-1]["round"] == 101
    assert found[-1]["dropped"] == lost
    checked = check([path])
    assert checked.problems == []
    assert checked.dropped == lost


@pytest.mark.parametrize("room", range(0, 4200, 131))
def test_a_batch_that_fits_in_part_is_cut_back_to_whole_records(tmp_path, made, bundle, monkeypatch, room):
    from policyengine.log.chain import body
    from policyengine.log.sinks import Item

    path = tmp_path / "log.jsonl"
    record = Recorder(bundle).record(made("floor"))
    batch = [Item(record, body(record))] * 3
    with JsonlSink(path) as sink:
        left = full_disk(monkeypatch, room)
        try:
            sink.write_many(batch)
            written = 3
        except SinkError as error:
            written = error.written if error.code == "ENOSPC" else -1
            sink.lost(3 - written)
        left[0] = 10**6
        sink.write_many(batch[:1])
    found = list(records(path))
    assert len(found) == written + 1
    assert found[-1].get("dropped", 0) == 3 - written
    assert check([path]).problems == []


def test_the_agent_stops_where_the_policy_says_so(tmp_path, made, bundle, monkeypatch):
    log = Log(Recorder(bundle), [open_sink(tmp_path / "log.jsonl")], settings(tmp_path, **STOP), at_exit=False)
    full_disk(monkeypatch, 0)
    log.decided(made("floor"))
    log.flush(5)
    with pytest.raises(LogError, match="No space left"):
        log.decided(made("floor"))
    log.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small tmpfs")
def test_a_full_tmpfs(tmp_path, made, bundle):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        path, copy = disk / "log.jsonl", tmp_path / "copy.jsonl"
        log = Log(Recorder(bundle), [open_sink(path), open_sink(copy)], at_exit=False)
        for number in range(1, 301):
            log.decided(made("floor"), round=number)
        log.flush(10)
        lost = log.dropped
        assert 0 < lost < 300
        assert len(list(records(path))) == 300 - lost
        assert check([path]).problems == []
        subprocess.run(["mount", "-o", "remount,size=1m", disk], check=True)
        log.decided(made("floor"), round=301)
        log.close()
        assert list(records(path))[-1]["dropped"] == lost
        assert check([path]).problems == []
        # The other sink has everything.
        assert [record["round"] for record in records(copy)] == list(range(1, 302))
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        open_sink(tmp_path / "no" / "such" / "log.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        open_sink(tmp_path / "no" / "such" / "log.sqlite")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a read-only folder")
def test_a_read_only_folder_is_one_clear_line(tmp_path, run):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        for name in ("log.jsonl", "log.sqlite"):
            with pytest.raises(InputError, match="cannot be written"):
                open_sink(disk / name)
        found = run("eval", "floor", "--example", "--log", disk / "log.jsonl")
        assert found.status == 2
        assert "Read-only file system" in found.err
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_file_that_can_no_longer_be_written_loses_and_counts(tmp_path, made, bundle, monkeypatch):
    """As above, but in the middle: the agent goes on, and the record after the loss tells it."""
    path = tmp_path / "log.jsonl"
    log = Log(Recorder(bundle), [open_sink(path)], at_exit=False)
    write = os.write

    def refused(fd, data):
        if stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return write(fd, data)

    for number in range(1, 4):
        with monkeypatch.context() as patch:
            if number == 2:
                patch.setattr(os, "write", refused)
            log.decided(made("floor"), round=number)
            log.flush(5)
    log.close()
    assert [(record["round"], record.get("dropped")) for record in records(path)] == [(1, None), (3, 1)]
    assert check([path]).problems == []


# The queue


class Slow:
    """A sink that takes its time."""

    kind = "jsonl"

    def __init__(self, pause):
        self.pause, self.found, self.dropped = pause, [], 0

    def write_many(self, items):
        time.sleep(self.pause)
        self.found += [item.record["round"] for item in items]

    def lost(self, count):
        self.dropped += count

    def close(self):
        pass


SMALL = {"queue": ("queue_records: 10000", "queue_records: 5"), "batch": ("batch_records: 256", "batch_records: 2")}


def test_a_full_queue_drops_and_counts_after_the_wait(tmp_path, made, bundle, caplog):
    quick = {**SMALL, "wait": ("longest_wait_ms: 100", "longest_wait_ms: 0")}
    sink = Slow(0.02)
    log = Log(Recorder(bundle), [sink], settings(tmp_path, **quick), at_exit=False)
    decided = made("floor")
    for number in range(200):
        log.decided(decided, round=number + 1)
    log.close()
    assert log.dropped == sink.dropped > 0
    assert len(sink.found) + sink.dropped == 200
    assert [text for text in caplog.messages if "cannot keep up" in text] == [
        "the log cannot keep up; records are dropped and counted"
    ]


def test_a_full_queue_holds_the_agent_back_for_as_long_as_the_policy_says(tmp_path, made, bundle):
    patient = {**SMALL, "wait": ("longest_wait_ms: 100", "longest_wait_ms: 60000")}
    sink = Slow(0.002)
    log = Log(Recorder(bundle), [sink], settings(tmp_path, **patient), at_exit=False)
    decided = made("floor")
    for number in range(100):
        log.decided(decided, round=number + 1)
    log.close()
    assert sink.found == list(range(1, 101))
    assert log.dropped == 0


class Unreadable:
    def __str__(self) -> str:
        raise RuntimeError("a secret")

    __repr__ = __str__


def test_a_record_that_cannot_be_built_does_not_end_the_log(tmp_path, made, bundle, caplog):
    sink = Slow(0)
    log = Log(Recorder(bundle), [sink], at_exit=False)
    log.decided(replace(made("floor"), input={"a secret": Unreadable()}))
    log.decided(made("floor"), round=2)
    log.close()
    assert sink.found == [2]
    assert (log.dropped, sink.dropped) == (1, 1)
    assert "a secret" not in caplog.text
