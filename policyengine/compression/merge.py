"""Merging new items into the standing summary: one item a thing, cycle marks, a budget a section.

Nothing is summarised again. Which notes stay follows from an order that does not depend on when they arrive, so that
merging the same items twice is merging them once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from policyengine.compression.sections import Layout, Section
from policyengine.compression.summary import Item, Note, Sections, identity_of, size

OVERHEAD = 16
"""Bytes that a note costs beyond its text when it is rendered: bullet, separators and cycle mark."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A note that had no room, or that a newer cycle replaced."""

    section: str
    label: str
    text: str
    cycle: int
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class _Atom:
    identity: str
    label: str
    note: Note


def merge(layout: Layout, standing: Sections, new: Sections) -> tuple[dict[str, tuple[Item, ...]], list[Dropped]]:
    """The sections of the layout with the new items in them, and what found no place."""
    merged: dict[str, tuple[Item, ...]] = {}
    dropped: list[Dropped] = []
    for section in layout.sections:
        merged[section.id], lost = merge_section(section, standing.get(section.id, ()), new.get(section.id, ()))
        dropped += lost
    for name, items in standing.items():
        if name not in merged:
            # A section that this profile does not have: said, not lost in silence.
            dropped += [Dropped(name, item.label, note.text, note.cycle) for item in items for note in item.notes]
    return merged, dropped


def merge_section(
    section: Section, standing: Iterable[Item], new: Iterable[Item]
) -> tuple[tuple[Item, ...], list[Dropped]]:
    """One section with the new items in it, within its budget."""
    atoms = _joined([*standing, *new])
    dropped: list[Dropped] = []
    if section.merge == "replace" and atoms:
        newest = max(atom.note.seen for atom in atoms)
        dropped = [_dropped(section, atom, replaced=True) for atom in atoms if atom.note.seen < newest]
        atoms = [atom for atom in atoms if atom.note.seen == newest]
    kept: list[_Atom] = []
    used = 0
    named: set[str] = set()
    for atom in sorted(atoms, key=lambda atom: _rank(section, atom)):
        cost = size(atom.note.text) + OVERHEAD + (0 if atom.identity in named else size(atom.identity))
        if used + cost > section.max_bytes:
            dropped.append(_dropped(section, atom))
            continue
        used += cost
        named.add(atom.identity)
        kept.append(atom)
    return _items(kept), dropped


def _joined(items: Iterable[Item]) -> list[_Atom]:
    """Every note once: the same words about the same thing keep their first cycle, and count as seen when last said."""
    atoms: dict[tuple[str, str], _Atom] = {}
    labels: dict[str, str] = {}
    for item in items:
        label = labels.setdefault(item.identity, item.label)
        for note in item.notes:
            key = (item.identity, identity_of(note.text))
            known = atoms.get(key)
            if known is not None:
                # Of two spellings the one said last stays.
                said = max((known.note, note), key=lambda note: (note.seen, note.at, note.text))
                note = replace(said, cycle=min(known.note.cycle, note.cycle))
            atoms[key] = _Atom(item.identity, label, note)
    return list(atoms.values())


def _rank(section: Section, atom: _Atom) -> tuple[int, int, str, str]:
    note = atom.note
    if section.keep == "oldest":
        return (note.cycle, note.at, atom.identity, note.text)
    return (-note.seen, -note.at, atom.identity, note.text)


def _items(atoms: Iterable[_Atom]) -> tuple[Item, ...]:
    """The notes by what they are about, oldest first."""
    ordered = sorted(atoms, key=lambda atom: (atom.note.cycle, atom.note.at, atom.identity, atom.note.text))
    items: dict[str, Item] = {}
    for atom in ordered:
        known = items.get(atom.identity, Item(atom.identity, atom.label, ()))
        items[atom.identity] = replace(known, notes=(*known.notes, atom.note))
    return tuple(items.values())


def _dropped(section: Section, atom: _Atom, *, replaced: bool = False) -> Dropped:
    return Dropped(section.id, atom.label, atom.note.text, atom.note.cycle, replaced)
