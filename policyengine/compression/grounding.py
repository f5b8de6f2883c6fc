"""Holding a claim against the record: an answer is data, and what it says must be in what it cites.

Four questions, each about who said it. Does it cite entries of the span, by those who may speak for its section? Does
a path belong to a file that calls have touched? Do its literals (paths, addresses, code) stand in what it cites or in
what was said, and enough of its telling words in what it cites? And is it no echo of tool output, cited as if
somebody had said it?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from policyengine.compression.answer import Claim
from policyengine.compression.history import Entry
from policyengine.compression.index import ArtefactIndex
from policyengine.compression.record import text_of
from policyengine.compression.sections import Layout, Section
from policyengine.compression.summary import identity_of

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Addresses and files have to stand word for word; of code every part does.
_WHOLE = re.compile(r"https?://[^\s`'\"<>)]+|(?:[\w.@-]*/)+[\w.@-]*\.\w+|/(?:[\w.@-]+/)+[\w.@-]+")
_CODE = re.compile(r"`[^`]+`|\b\w+(?:\.\w+)+\b|\b\w*[a-z]_\w+\b")
_NAME = re.compile(r"\w{3,}")


class Grounding:
    """The record of one span, ready to be asked."""

    def __init__(self, layout: Layout, span: Iterable[Entry], index: ArtefactIndex, earlier: str = "") -> None:
        """`earlier` is the standing summary: what it says has been said."""
        self._layout = layout
        self._index = index
        self._entries: Mapping[int, Entry] = {entry.number: entry for entry in span if entry.kind != "thinking"}
        self._words: dict[int, frozenset[str]] = {}
        said = [text_of(entry) for entry in self._entries.values() if entry.role != "tool"]
        self._spoken = "\n".join(said)
        self._said = _runs([*said, earlier], self._echo)
        self._output = _runs((text_of(e) for e in self._entries.values() if e.role == "tool"), self._echo)

    @property
    def _echo(self) -> int:
        return int(self._layout.grounding["echo_words"])

    def round_of(self, claim: Claim) -> int:
        """The latest round that a claim cites."""
        return max(self._entries[number].round for number in claim.sources)

    def path_of(self, path: str) -> str | None:
        """The file that a path names: as the calls wrote it, or by an end that only one file has."""
        files = self._index.files
        if path in files:
            return path
        named = [known for known in files if known.endswith("/" + path.lstrip("./"))]
        return named[0] if len(named) == 1 and path else None

    def problem(self, section: Section, claim: Claim) -> str | None:
        """What is wrong with a claim; None where it holds."""
        if not claim.text:
            return "says nothing"
        if not claim.sources:
            return "cites nothing"
        cited = [self._entries.get(number) for number in claim.sources]
        found = [entry for entry in cited if entry is not None]
        if len(found) < len(cited):
            return "cites an entry that is not in the span"
        if any(entry.role not in section.sources for entry in found):
            return "cites somebody who may not speak for this section"
        if section.identity == "path" and self.path_of(claim.label) is None:
            return "names a file that no call has touched"
        if section.identity == "subject" and not identity_of(claim.label):
            return "names no subject"
        if not self._literals_stand(claim, found):
            return "holds a name or address that its sources do not"
        if self._share(claim, found) < self._layout.grounding["min_share"]:
            return "says what its sources do not"
        if "tool" not in section.sources and self.echoes(claim.text):
            return "repeats tool output as if somebody had said it"
        return None

    def _literals_stand(self, claim: Claim, cited: Sequence[Entry]) -> bool:
        # What a person or the model has said anywhere in the span is known, whatever was cited for it.
        known = "\n".join((self._spoken, *(text_of(entry) for entry in cited))).casefold()
        for literal in _WHOLE.findall(claim.text):
            if literal.casefold() not in known and self.path_of(literal) is None:
                return False
        names = {name.casefold() for name in self._index.identifiers}
        for code in _CODE.findall(claim.text):
            parts = _NAME.findall(code.casefold())
            if self.path_of(code.strip("`")) is None and any(p not in known and p not in names for p in parts):
                return False
        return True

    def telling(self, text: str) -> frozenset[str]:
        """The words of a text that say something, by their first letters."""
        least, prefix = self._layout.grounding["word_letters"], self._layout.grounding["prefix_letters"]
        return frozenset(word[:prefix] for word in _words(text) if len(word) >= least or not word.isascii())

    def words_of(self) -> Mapping[int, frozenset[str]]:
        """The words of every entry by its number, by their first letters."""
        for number, item in self._entries.items():
            if number not in self._words:
                prefix = self._layout.grounding["prefix_letters"]
                self._words[number] = frozenset(word[:prefix] for word in _words(text_of(item)))
        return self._words

    def _share(self, claim: Claim, cited: Sequence[Entry]) -> float:
        telling = self.telling(claim.text)
        if not telling:
            return 1.0
        words = self.words_of()
        known = frozenset[str]().union(*(words[entry.number] for entry in cited))
        # Scripts without spaces: a run of signs may stand inside a longer one.
        runs = "\n".join(word for word in known if not word.isascii())
        return sum(1 for word in telling if word in known or (not word.isascii() and word in runs)) / len(telling)

    def echoes(self, text: str) -> bool:
        """Whether so many words in a row stand in tool output, and in nothing that a person or the model said."""
        words = _words(text)
        length = min(self._echo, len(words))
        if length < 3:
            return False
        runs = {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
        if length == self._echo:
            return bool((runs & self._output) - self._said)
        # Shorter than the runs kept: the whole of it stands inside a longer one, or nowhere.
        whole = " ".join(words)
        inside = any(whole in f" {' '.join(run)} " for run in self._output)
        return inside and not any(whole in f" {' '.join(run)} " for run in self._said)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(texts: Iterable[str], length: int) -> frozenset[tuple[str, ...]]:
    runs: set[tuple[str, ...]] = set()
    for text in texts:
        words = _words(text)
        runs.update(tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)))
    return frozenset(runs)
