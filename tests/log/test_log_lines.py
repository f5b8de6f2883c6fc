"""Both readers of a line agree: the quick one, and the json module with the record's types."""

import json
import random

import pytest
from random_log import random_records, write

from policyengine.log.lines import row_of, rows

DIGITS = "1" * 4300
"""The longest whole number that Python reads from a text."""

NUMBERS = [
    "1", "0", "-0", "-0.0", "1.0", "1.5", "1e2", "-1e-7", "5e-324", "1e400", "-1e400", "0.1234567890123456789012345",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "9223372036854775808.0", "18446744073709551616", DIGITS, f"{DIGITS}1", f"-{DIGITS}1", f"{DIGITS}.5",
    "NaN", "Infinity", "-Infinity", "nan", "01", "1.", ".5", "+1", "-", "1e", "0x1",
]  # fmt: skip
TEXTS = [
    '"a"', '""', '"é"', '"\u2028"', '"\U0001f600"', r'"\u00e9"', r'"\ud83d\ude00"', r'"\ud800"', r'"\udc00x"',
    r'"\u12g4"', r'"\x"', r'"\/"', r'"\u0000"', '"\x01"', '"\t"', '"\x7f"', '"', '"\\"', '"a" "b"', "'a'",
]  # fmt: skip
OTHERS = [
    "null", "nul", "true", "false", "True", "[]", "[1,]", "[,]", "[1 2]", "{}", '{"a":1,}', '{"a"}', "{a:1}",
    '{"a":1,"a":2}', f"[{DIGITS}1]", f'{{"a":{DIGITS}1}}', "[" * 400 + "]" * 400, "[" * 100_000 + "]" * 100_000,
    "[" * 100_000, "", " ", "/**/1", "1//",
]  # fmt: skip
BYTES = [
    b'"\xff"', b'"\xc3"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b"\xff", b"\x00", b'"\x00"', b"\x0c",
]  # fmt: skip
VALUES = [value.encode() for value in (*NUMBERS, *TEXTS, *OTHERS)] + BYTES

PLACES = [
    b'{"kind":"K","unknown":%s}', b'{"kind":"K","prompt_tokens":%s}', b'{"kind":"K","total_rt_ms":%s}',
    b'{"kind":"K","session_id":%s}', b'{"kind":"K","more_detail":%s}', b'{"kind":%s}',
    b'{"kind":"K","round":%s,"round":3}', b'{"kind":"K","round":3,"round":%s}', b'{"kind":"K","x":{"y":[%s]}}',
    b'{"kind":"K",%s:1}', b'{%s:1,"kind":"K"}', b'{"kind":"K"%s}', b'{"kind":"K"}%s', b'%s{"kind":"K"}', b"%s",
    b'[%s,{"kind":"K"}]', b' { "kind" :%s, "round" : 1 } \r',
]  # fmt: skip

OBJECTS = [
    rb'{"\u006bind":"K","r\u006fund":2}', b'{"kind":"K","kind":"L"}', b'{"kind":"K","kind":5}',
    b'{"kind":5,"kind":"K"}', b'\xef\xbb\xbf{"kind":"K"}', '{"kind":"K"}'.encode("utf-16"),
    '{"kind":"K"}'.encode("utf-32-be"), b'{"kind":"K"}{"kind":"K"}', b'{"kind":"K"} {"kind":"K"}', b'{"kind":"K"},',
    b'{"KIND":"K"}', b'{"kind":"K"', b"\n", b"  \n",
]  # fmt: skip

PIECES = [
    b'"', b"\\", b",", b":", b"{", b"}", b"[", b"]", b"0", b"e", b"-", b"1.5", b"null", b"NaN", b"\xff", b"\xc3\xa9",
    b"\\u", b"\\ud800", b"\x00", b"\t", b" ", b"\n", b'"kind":1,', b'"round":1e3,', b'"time":null,',
]  # fmt: skip
"""What damages a line in an interesting way."""


def judged(line):
    """What the json module alone says: the object in a line, where the fields of a row have their types."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and row_of(value) is not None else None


def agree(line):
    record = judged(line)
    found, unreadable = rows([line])
    assert (found, unreadable) == (
        ([row_of(record)], 0) if record is not None else ([], 1 if line.strip() else 0)
    ), line[:80]  # fmt: skip
    # Equal is not yet the same: 1 == 1.0 == True, 0.0 == -0.0.
    assert repr(found) == repr([row_of(record)] if record else [])
    return record is not None


@pytest.mark.parametrize("place", PLACES)
def test_both_readers_agree_on_odd_lines(place):
    read = sum(agree(place.replace(b"%s", value) + end) for value in VALUES for end in (b"", b"\n"))
    assert read < 2 * len(VALUES)


@pytest.mark.parametrize("line", OBJECTS)
def test_both_readers_agree_on_odd_objects(line):
    agree(line)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rules", "abc"), ("rules", [1]), ("rules", [{"id": "a"}]), ("outcome", 5), ("errors", 3), ("input", [1]),
        ("masked", [3]), ("shadow", 3), ("source", 1), ("rule", ["a"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("args", [("log", "show"), ("log", "tail"), ("log", "unused"), ("replay",), ("report", "-o")])
def test_commands_over_whole_records_take_no_field_of_another_form(run, tmp_path, args, field, value):
    good = {"kind": "Ladder", "policy": "floor", "session_id": "s", "round": 1, "rules": [], "outcome": {}, "input": {}}
    nothing = dict.fromkeys(("rules", "outcome", "errors", "input", "masked", "shadow", "source", "rule", "policy"))
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in (good, {**good, field: value}, {**good, **nothing})))
    if args[0] == "report":
        pytest.importorskip("plotly", reason="the extra report is not installed")
        args = (*args, tmp_path / "report.html", "--log")
    found = run(*args, log)
    assert "internal error" not in found.err
    if args[-1] == "unused":
        assert found.err.startswith("1 line is no record\n")
    if args[-1] == "show":
        assert len(found.out.splitlines()) == 2
        assert found.err == f"1 line is no record; the first is {log}:2\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time", 5), ("session_id", ["a"]), ("policy", {}), ("round", "1"), ("round", 1.0), ("prompt_tokens", True),
        ("dropped", "3"), ("total_rt_ms", "5"), ("total_rt_ms", float("nan")), ("render_ms", float("inf")),
        ("compaction_rt_ms", 10**400), ("more_detail", "yes"), ("fallback_triggered", 1), ("kind", None),
    ],
)  # fmt: skip
def test_a_line_with_a_field_of_another_type_is_no_record(run, tmp_path, field, value):
    log = tmp_path / "log.jsonl"
    good = {"kind": "Routing", "session_id": "s", "round": 1, "time": "2026-03-01T00:00:00.000+00:00"}
    log.write_text("".join(json.dumps(one) + "\n" for one in (good, {**good, field: value}, good)))
    for args in ((), ("--by", "day"), ("--since", "2026-01-01")):
        found = run("log", "stats", log, *args, "--format", "json").json
        assert (found["records"], found["unreadable"], found["rounds"]) == (2, 1, 1)
    shown = run("log", "show", log, "--since", "2026-01-01", "--format", "jsonl")
    assert len(shown.out.splitlines()) == 2
    assert f"{log}:2" in shown.err


def _damaged(lines, dice, times):
    """Lines with bytes changed, removed, doubled and put in."""
    for _ in range(times):
        line = dice.choice(lines)
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            at = dice.randrange(len(line))
            end = at + dice.choice([0, 0, 1, 1, 2, 8])
            line = line[:at] + dice.choice([b"", line[at : at + 9], *PIECES]) + line[end:]
        yield line


def _agree_on_damaged(path, times):
    write(path, random_records(3, sessions=40))
    lines = path.read_bytes().splitlines(keepends=True)
    dice = random.Random(4)
    read = sum(agree(line) for line in _damaged(lines, dice, times))
    assert times / 20 < read < times


def test_both_readers_agree_on_damaged_lines(tmp_path):
    _agree_on_damaged(tmp_path / "log.jsonl", 5000)


@pytest.mark.soak
def test_both_readers_agree_on_a_million_damaged_lines(tmp_path):
    _agree_on_damaged(tmp_path / "log.jsonl", 1_000_000)


def test_many_lines_are_read_as_each_alone():
    lines = [place.replace(b"%s", value) + b"\n" for place in PLACES for value in VALUES]
    alone = [rows([line]) for line in lines]
    assert rows(lines) == ([row for found, _ in alone for row in found], sum(unreadable for _, unreadable in alone))
