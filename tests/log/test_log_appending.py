"""A log goes on in a log, and in nothing else: no other file of a person is written to."""

import json

import pytest

from policyengine.log.chain import body
from policyengine.log.sinks import Item, JsonlSink
from policyengine.source.errors import InputError


def _item(number):
    record = {"kind": "Tips", "policy": "tips", "policy_version": "1.0.0", "round": number}
    return Item(record, body(record))


OTHERS = {
    "a text": b"my notes\n",
    "a text without an end of line": b"my notes",
    "a session": b'{"uuid":"a-0","sessionId":"a","type":"user"}\n',
    "a file of JSON": b'{\n  "schema": "policyengine.record/1"\n}\n',
    "a list": b"[1, 2]\n",
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("with_records", [False, True], ids=["", "after records"])
def test_what_is_no_log_is_not_written_to(tmp_path, name, with_records):
    path = tmp_path / "file"
    if with_records:
        with JsonlSink(path) as sink:
            sink.write_many([_item(1)])
    before = (path.read_bytes() if with_records else b"") + OTHERS[name]
    path.write_bytes(before)
    with pytest.raises(InputError, match=r"file: this file is no decision log .* give the log another file$"):
        JsonlSink(path)
    assert path.read_bytes() == before


TORN = {
    "nothing": b"",
    "an empty line": b"\n",
    "one character of a record": b"{",
    "half a record": b'{"schema":"policyengine.record/1","seq":2,"ki',
    "half a record that was ended": b'{"schema":"policyengine.record/1","seq":2,"ki\n',
    "zeros": b"\0" * 4096,
    "a long record's beginning": b'{"schema":"policyengine.record/1","x":"' + b"a" * 200_000,
}


@pytest.mark.parametrize("name", TORN)
def test_a_log_whose_end_was_cut_off_goes_on(tmp_path, name):
    path = tmp_path / "log.jsonl"
    with JsonlSink(path) as sink:
        sink.write_many([_item(1)])
    path.write_bytes(path.read_bytes() + TORN[name])
    with JsonlSink(path) as sink:
        sink.write_many([_item(2)])
    assert json.loads(path.read_bytes().splitlines()[-1])["seq"] == 2
