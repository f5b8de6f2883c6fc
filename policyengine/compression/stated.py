"""What a summary states about files: which it names, and as what. Works on any text, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from policyengine.cel.functions import mentions
from policyengine.compression.building import word_list
from policyengine.kinds.loop import Loop

_PATH = re.compile(r"[\w.@+~-]*(?:/[\w.@+~-]+)+|[\w@+-]+(?:\.[\w@+-]+)+|(?<![\w/])\.\w[\w.-]+")
_CLAUSE = re.compile(r"\w[^;:.)\n]*")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s|\d+\.\s|\*\*[^*]+\*\*:?\s*$)")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The word lists by which a line's claim about a file is read."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    read: tuple[str, ...]
    current: tuple[str, ...]


def vocabulary(loop: Loop) -> Vocabulary:
    """The bundle's word lists `stated_created`, `stated_changed`, `stated_read` and `stated_current`."""
    names = ("stated_created", "stated_changed", "stated_read", "stated_current")
    created, changed, read, current = (word_list(loop, name) for name in names)
    return Vocabulary(created, changed, read, current)


@dataclass(frozen=True, slots=True)
class Stated:
    """Paths by what a text says of them. `named` holds all of them; `strangers` look like paths and are no file of
    the session's."""

    named: frozenset[str]
    changed: frozenset[str]
    created: frozenset[str]
    read: frozenset[str]
    current: frozenset[str]
    strangers: frozenset[str]


def stated(text: str, files: Iterable[str], words: Vocabulary) -> Stated:
    """What a text states about these files.

    A file is named by its path or by an end of it that no other file has. What is said of it is read from the words
    after it; where they say nothing, from its line, the lines indented below it, and last the heading above.
    """
    ends = _ends(files)
    found: dict[str, set[str]] = {name: set() for name in ("named", "changed", "created", "read", "current")}
    strangers: set[str] = set()
    heading = ""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _HEADING.match(line):
            heading = line
        tokens = [token.strip(".") if not token.startswith(".") else token for token in _PATH.findall(line)]
        paths = {path for token in tokens if (path := ends.get(token.removeprefix("./")))}
        strangers |= {token for token in tokens if _looks_like_file(token) and token not in ends}
        if not paths:
            continue
        found["named"] |= paths
        says = (
            _claims(_after(line), words)
            or _claims(line, words)
            or _claims(_below(lines, number), words)
            or _claims(heading, words)
        )
        for claim in says:
            found[claim] |= paths
        if any(mentions(_bare(part), words.current) for part in (line, heading)):
            found["current"] |= paths
    # Whatever else is said of it, a file that is said to be changed is not one that was only read.
    found["read"] -= found["changed"]
    return Stated(**{name: frozenset(paths) for name, paths in found.items()}, strangers=frozenset(strangers))


def _claims(text: str, words: Vocabulary) -> set[str]:
    bare = _bare(text)
    claims = {"changed"} if mentions(bare, words.changed) else set()
    if mentions(bare, words.created):
        claims |= {"created", "changed"}
    if not claims and mentions(bare, words.read):
        claims = {"read"}
    return claims


def _after(line: str) -> str:
    """What a line says right after its first path, up to the end of that clause."""
    match = _PATH.search(line)
    found = _CLAUSE.search(line, match.end()) if match else None
    return found[0] if found else ""


def _bare(text: str) -> str:
    """A line without its paths, whose parts may look like words."""
    return _PATH.sub(" ", text)


def _below(lines: list[str], number: int) -> str:
    depth = _indent(lines[number])
    below: list[str] = []
    for line in lines[number + 1 :]:
        if line.strip() and _indent(line) <= depth:
            break
        if _PATH.search(line) is None or line.strip().startswith(("-", "*")):
            below.append(line)
    return "\n".join(below)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _ends(files: Iterable[str]) -> Mapping[str, str]:
    """Every end of a path that belongs to one file only, and the file."""
    owners: dict[str, set[str]] = {}
    for path in files:
        parts = path.split("/")
        for at in range(len(parts)):
            end = "/".join(parts[at:])
            if end:
                owners.setdefault(end, set()).add(path)
        owners.setdefault(path, set()).add(path)
    ends = {end: next(iter(paths)) for end, paths in owners.items() if len(paths) == 1}
    # A whole path names its own file, also where it is the end of another.
    return {**ends, **{path: path for path in files}}


def _looks_like_file(token: str) -> bool:
    name = token.rpartition("/")[2]
    return "/" in token and "." in name.strip(".") and not name.rpartition(".")[2].isdigit()
