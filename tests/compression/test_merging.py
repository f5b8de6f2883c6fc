"""Merging: once is twice, never over budget, one item a thing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyengine.compression.merge import OVERHEAD, merge_section
from policyengine.compression.sections import Section
from policyengine.compression.summary import Item, Note, identity_of, size
from tests.conftest import examples

WORDS = st.text(alphabet="abAB .é", min_size=1, max_size=12).filter(lambda text: identity_of(text))


def section(identity="subject", merge="accumulate", keep="newest", max_bytes=120):
    return Section("s", "S", "ask for it", identity, merge, keep, max_bytes, ("user",), "none", False)


def items(cycle):
    def make(rows):
        made = {}
        for label, text, at in rows:
            known = made.get(identity_of(label), Item(identity_of(label), label, ()))
            made[identity_of(label)] = Item(known.identity, label, (*known.notes, Note(text, cycle, cycle, at)))
        return tuple(made.values())

    return st.lists(st.tuples(WORDS, WORDS, st.integers(1, 5)), max_size=8).map(make)


SECTIONS = st.builds(
    section,
    merge=st.sampled_from(["accumulate", "replace"]),
    keep=st.sampled_from(["newest", "oldest"]),
    max_bytes=st.integers(60, 300),
)


@settings(max_examples=examples(120))
@given(SECTIONS, items(1), items(2), items(3))
def test_merging_twice_is_merging_once(about, first, second, third):
    standing, _ = merge_section(about, merge_section(about, (), first)[0], second)
    once, _ = merge_section(about, standing, third)
    twice, _ = merge_section(about, once, third)
    assert once == twice


@settings(max_examples=examples(100))
@given(SECTIONS, st.lists(items(1), max_size=4))
def test_a_section_never_outgrows_its_budget(about, rounds):
    standing = ()
    for number, new in enumerate(rounds, start=1):
        new = tuple(Item(i.identity, i.label, tuple(Note(n.text, number, number, n.at) for n in i.notes)) for i in new)
        standing, _ = merge_section(about, standing, new)
        used = sum(size(i.identity) + sum(size(n.text) + OVERHEAD for n in i.notes) for i in standing)
        assert used <= about.max_bytes


@given(SECTIONS, items(1), items(2))
def test_what_is_not_kept_is_listed(about, first, second):
    standing, _ = merge_section(about, (), first)
    merged, lost = merge_section(about, standing, second)
    given = {identity_of(n.text) for i in (*standing, *second) for n in i.notes}
    kept = {identity_of(n.text) for i in merged for n in i.notes}
    assert given == kept | {identity_of(row.text) for row in lost}


def test_one_item_a_path_with_the_cycle_of_each_note():
    about = section("path", max_bytes=500)
    old = (Item("/w/a.py", "/w/a.py", (Note("adds f", 1, 1, 3),)),)
    new = (Item("/w/a.py", "/w/a.py", (Note("Adds  f.", 2, 2, 9), Note("renames g", 2, 2, 9))),)
    ((item,), _) = merge_section(about, old, new)
    assert [(note.text, note.cycle, note.seen) for note in item.notes] == [("Adds  f.", 1, 2), ("renames g", 2, 2)]


def test_a_state_is_replaced_and_said_to_be():
    about = section("text", merge="replace")
    old = (Item("old", "", (Note("old", 1, 1, 1),)),)
    new = (Item("new", "", (Note("new", 2, 2, 2),)),)
    kept, lost = merge_section(about, old, new)
    assert [item.identity for item in kept] == ["new"]
    assert [(row.text, row.replaced) for row in lost] == [("old", True)]
    assert merge_section(about, old, ())[0] == old


@pytest.mark.parametrize(("keep", "stays"), [("oldest", "first"), ("newest", "third")])
def test_which_end_stays_where_there_is_room_for_one(keep, stays):
    about = section("text", keep=keep, max_bytes=30)
    notes = [Item(text, "", (Note(text, n, n, n),)) for n, text in enumerate(("first", "second", "third"), start=1)]
    kept, lost = merge_section(about, notes[:2], notes[2:])
    assert [item.identity for item in kept] == [stays]
    assert len(lost) == 2
