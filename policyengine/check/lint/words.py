"""The entries of word lists, and which of them another makes needless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policyengine.cel import mentions
from policyengine.source.document import Document


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: of which list, and where."""

    list: str
    text: str
    path: tuple[str | int, ...]


def entries(document: Document) -> Iterator[Entry]:
    """Every entry of a WordLists document."""
    for name, parts in document.data["spec"]["words"].items():
        for script in ("latin", "cjk"):
            for index, text in enumerate(parts.get(script, ())):
                yield Entry(name, text, ("spec", "words", name, script, index))


def implied_by(listed: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Entries that only match where another entry of the list does, each with the shortest such other."""
    short_first = sorted(dict.fromkeys(entry.text for entry in listed), key=len)
    seen: set[str] = set()
    for entry in listed:
        if entry.text in seen:
            yield entry, entry.text
            continue
        seen.add(entry.text)
        for other in short_first:
            if len(other) >= len(entry.text):
                break
            # An entry alone is a text whose ends are ends of words: what is found in it is found wherever it is.
            if other in entry.text and _bounded(other, entry.text) and mentions(entry.text, (other,)):
                yield entry, other
                break


def _bounded(inner: str, outer: str) -> bool:
    """Whether `inner` stands somewhere in `outer` without a plain letter going on beside it: a quick first look."""
    at = outer.find(inner)
    while at >= 0:
        end = at + len(inner)
        left = at > 0 and _plain(outer[at - 1]) and _plain(inner[0])
        right = end < len(outer) and _plain(outer[end]) and _plain(inner[-1])
        if not left and not right:
            return True
        at = outer.find(inner, at + 1)
    return False


def _plain(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())
