"""What holds for every transcript, however damaged."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policyengine.sessions import reading
from policyengine.sessions.lines import read_lines
from policyengine.source.errors import InputError
from tests.conftest import examples

DATA = Path(__file__).parent / "data"
NAMES = sorted(path.name for path in DATA.iterdir() if path.name not in ("expected.json", "errors.json"))
JSONL = [name for name in NAMES if name.endswith(".jsonl")]


def read_bytes(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("session") / "session"
    path.write_bytes(data)
    return reading.read(path)


def check(session):
    """The invariants of the turn model."""
    rounds, turns = session.rounds, session.turns
    assert [item.index for item in rounds] == list(range(1, len(rounds) + 1))
    assert [turn.index for turn in turns] == list(range(1, len(turns) + 1))
    for before, item in itertools.pairwise(rounds):
        assert before.turn <= item.turn
        assert before.context <= item.context
        assert not (item.is_continuation and item.turn != before.turn)
    for turn in turns:
        firsts = [item.index for item in rounds if item.turn == turn.index]
        assert turn.first_round == (firsts[0] if firsts else None)
    assert all(1 <= item.turn <= len(turns) for item in rounds)
    compactions = session.recorded_compactions
    assert [item.context for item in compactions] == list(range(len(compactions)))
    assert all(1 <= item.round <= len(rounds) + 1 for item in compactions)
    for item in rounds:
        assert item.context == sum(compaction.round <= item.index for compaction in compactions)
    ids = [call.id for item in rounds for call in item.calls]
    sent = [part for item in rounds for part in item.added]
    sent += [part for item in compactions for part in item.pending]
    sent += session.unsent
    for item in rounds:
        for call in item.calls:
            made = [part for part in item.output if part.kind == "tool_call" and part.call_id == call.id]
            assert made
            if call.result is not None:
                assert all(part in sent for part in call.result.parts)
                assert {part.call_id for part in call.result.parts} <= {call.id}
    assert all(part.bytes >= 0 for part in sent)
    if len(ids) == len(set(ids)):
        assert session.noted.get("tool result without an open call", 0) >= 0
    assert all(count > 0 for count in session.skipped.values())
    assert sum(session.skipped.values()) <= session.lines


class Counting:
    """A reader that counts which lines it used."""

    def __init__(self, inner):
        self.inner = inner
        self.used = 0

    def header(self, fields):
        self.inner.header(fields)

    def record(self, line):
        reason = self.inner.record(line)
        self.used += reason is None
        return reason

    def finish(self, skipped, lines):
        assert self.used + sum(skipped.values()) == lines
        return self.inner.finish(skipped, lines)

    def again(self):
        other = self.inner.again()
        return None if other is None else Counting(other)


@pytest.fixture(autouse=True, scope="module")
def _count_every_line():
    """Every line is either used or counted as skipped."""
    before = dict(reading._READERS)
    for format, make in before.items():
        reading._READERS[format] = lambda path, make=make: Counting(make(path))
    yield
    reading._READERS.update(before)


def read_or_refuse(data, factory):
    try:
        session = read_bytes(data, factory)
    except InputError:
        return None
    check(session)
    return session


@pytest.mark.parametrize("name", NAMES)
def test_fixtures_keep_the_invariants(name, tmp_path_factory):
    assert read_or_refuse((DATA / name).read_bytes(), tmp_path_factory) is not None


@pytest.mark.parametrize("name", NAMES)
def test_cutting_a_file_at_any_byte_never_raises(name, tmp_path_factory):
    data = (DATA / name).read_bytes()
    path = tmp_path_factory.mktemp("cut") / "session"
    whole = len(reading.read_text(data.decode("utf-8", "replace")).rounds)
    last = 0
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        try:
            session = reading.read(path)
        except InputError:
            assert last == 0
            continue
        check(session)
        last = len(session.rounds)
        assert last <= whole


def test_cutting_real_sessions_never_raises(shared_session, tmp_path):
    for name in ("claude-code-short.jsonl", "codex-one-turn.jsonl"):
        data = shared_session(name).read_bytes()
        path = tmp_path / name
        for end in range(1, len(data), max(1, len(data) // 150)):
            path.write_bytes(data[:end])
            try:
                check(reading.read(path))
            except InputError:
                assert b"\n" not in data[:end]


garbage = st.one_of(
    st.text(max_size=30).map(lambda text: text.replace("\n", " ").replace("\r", " ").encode("utf-8", "replace")),
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b" ")),
    st.sampled_from([b"{}", b"[]", b"null", b"[1,2]", b'{"type":7}', b'{"type":"user"}', b'{"items":[1]}', b"{"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), name=st.sampled_from(JSONL))
def test_garbage_between_the_lines_is_counted_and_changes_nothing_else(data, name, tmp_path_factory):
    lines = (DATA / name).read_bytes().split(b"\n")
    kept = [line for line in lines if line.strip()]
    if not (DATA / name).read_bytes().endswith(b"\n"):
        kept = kept[:-1]
    clean = read_or_refuse(b"\n".join(kept) + b"\n", tmp_path_factory)
    mixed = list(kept)
    for piece in data.draw(st.lists(garbage, min_size=1, max_size=5)):
        mixed.insert(data.draw(st.integers(1, len(mixed))), piece)
    session = read_or_refuse(b"\n".join(mixed) + b"\n", tmp_path_factory)
    assert session.format == clean.format
    assert session.lines == clean.lines + len(mixed) - len(kept)
    assert [item.output for item in session.rounds] == [item.output for item in clean.rounds]
    assert sum(session.skipped.values()) >= sum(clean.skipped.values())


@settings(max_examples=examples(100), deadline=None)
@given(seed=st.randoms(use_true_random=False), name=st.sampled_from(JSONL))
def test_shuffled_lines_never_raise(seed, name, tmp_path_factory):
    lines = (DATA / name).read_bytes().split(b"\n")
    seed.shuffle(lines)
    assert read_or_refuse(b"\n".join(lines), tmp_path_factory) is not None


JUNK = [None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"type": None}, [{"type": "text"}], [[]], "9" * 50]


def spoil(value, seed):
    """Put something of another type in place of one value."""
    if not isinstance(value, (dict, list)) or not value or seed.random() < 0.2:
        return seed.choice(JUNK)
    key = seed.choice(sorted(value) if isinstance(value, dict) else range(len(value)))
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = spoil(copy[key], seed)
    return copy


@settings(max_examples=examples(120), deadline=None)
@given(seed=st.randoms(use_true_random=False), name=st.sampled_from(NAMES))
def test_values_of_the_wrong_type_never_raise(seed, name, tmp_path_factory):
    data = (DATA / name).read_bytes()
    if name.endswith(".json"):
        spoiled = json.dumps(spoil(json.loads(data), seed)).encode()
    else:
        lines = data.split(b"\n")
        for at, line in enumerate(lines):
            if line.startswith(b"{") and seed.random() < 0.5:
                try:
                    lines[at] = json.dumps(spoil(json.loads(line), seed)).encode()
                except ValueError:
                    continue
        spoiled = b"\n".join(lines)
    read_or_refuse(spoiled, tmp_path_factory)


@settings(max_examples=examples(100), deadline=None)
@given(data=st.binary(max_size=300))
@example(data=b"\xff\xfe{\x00}\x00")
@example(data=b'{"messages":[{"role":"user","content":"\\ud800"}]}')
def test_any_bytes_are_read_or_refused(data, tmp_path_factory):
    read_or_refuse(data, tmp_path_factory)


def test_lines_are_read_one_by_one(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b'{"a":1}\n\n[1]\n\xff\n{"b":\n{"c":')
    with path.open("rb") as stream:
        assert [line for line, _ in read_lines(stream)] == [
            {"a": 1},
            "blank line",
            "not an object",
            "not UTF-8",
            "bad JSON",
            "truncated last line",
        ]
