"""The entries of word lists, and which of them another makes needless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
    order = {text: at for at, text in reversed(list(enumerate(entry.text for entry in listed)))}
    lengths = frozenset(map(len, order))
    seen: set[str] = set()
    for entry in listed:
        if entry.text in seen:
            yield entry, entry.text
            continue
        seen.add(entry.text)
        # An entry alone is a text whose ends are ends of words: what is found in it is found wherever it is.
        for other in sorted(order.keys() & _parts(entry.text, lengths), key=lambda text: (len(text), order[text])):
            if mentions(entry.text, (other,)):
                yield entry, other
                break


def _parts(text: str, lengths: frozenset[int]) -> set[str]:
    """What of some lengths stands in a text without a plain letter going on beside it, less the text itself."""
    edges = [not (_plain(one) and _plain(two)) for one, two in pairwise(text)]
    edge = [True, *edges, True]
    starts = [at for at in range(len(text)) if edge[at]]
    ends = ((start, start + length) for start in starts for length in lengths)
    return {text[start:end] for start, end in ends if end <= len(text) and edge[end]} - {text}


def _plain(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())
