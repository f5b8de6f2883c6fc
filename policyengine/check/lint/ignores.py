"""Ignore comments: `# policyengine: ignore[CODE] reason`, at the end of the line or alone on the line above."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from policyengine.check.lint.registry import BY_CODE
from policyengine.check.lint.rule import Hit
from policyengine.source.document import Document
from policyengine.source.finding import Edit, Finding, Fix
from policyengine.source.nearest import did_you_mean
from policyengine.source.place import Place
from policyengine.source.text import Lines

_COMMENT = re.compile(r"(?:^|(?<=[\s]))#[ \t]*policyengine[ \t]*:[ \t]*ignore\b(?P<rest>[^\r\n]*)", re.MULTILINE)
_REST = re.compile(r"[ \t]*\[(?P<codes>[^\]]*)\][ \t]*(?P<reason>.*)")
_MARK = re.compile(r"policyengine[ \t]*:[ \t]*ignore\b")
"""What every such comment holds, and hardly any file; it starts with a fixed word, so that searching it is fast."""


@dataclass(slots=True)
class Ignore:
    """One comment. It covers its own line and, where it stands alone, the next line that is no comment."""

    place: Place
    lines: frozenset[int]
    codes: tuple[str, ...]
    reason: str
    remove: Edit
    malformed: bool = False
    used: set[str] = field(default_factory=set)


def find_ignores(file: str, text: str, documents: Sequence[Document]) -> list[Ignore]:
    """The ignore comments in a text. `documents` are those of the file, so that text inside values is no comment."""
    if _MARK.search(text) is None:
        return []
    lines = Lines(text, file)
    rows = re.split(r"\r\n|\r|\n", text)
    found = []
    for match in _COMMENT.finditer(text):
        if _inside_value(match.start(), documents):
            continue
        place = lines.place(match.start(), match.end())
        before = rows[place.line - 1][: place.column - 1]
        covered = {place.line}
        start = match.start() - (len(before) - len(before.rstrip()))
        end = match.end()
        if not before.strip():
            following = place.line
            while following < len(rows) and rows[following].lstrip().startswith("#"):
                following += 1
            covered.add(following + 1)
            start, end = match.start() - len(before), _past_break(text, match.end())
        rest = _REST.match(match["rest"])
        codes = tuple(code.strip() for code in rest["codes"].split(",") if code.strip()) if rest else ()
        reason = rest["reason"].strip() if rest else ""
        remove = Edit(lines.place(start, end), "")
        found.append(Ignore(place, frozenset(covered), codes, reason, remove, not codes))
    return found


def apply_ignores(findings: Iterable[Finding], ignores: Iterable[Ignore]) -> list[Finding]:
    """The findings that no comment ignores. Marks the comments that were of use."""
    by_line: dict[tuple[str, int], list[Ignore]] = {}
    for ignore in ignores:
        if ignore.reason and not ignore.malformed:
            for line in ignore.lines:
                by_line.setdefault((ignore.place.file, line), []).append(ignore)
    kept = []
    for finding in findings:
        rule = BY_CODE.get(finding.code)
        covering = [
            ignore
            for ignore in by_line.get((finding.place.file, finding.place.line), ())
            if finding.code in ignore.codes
        ]
        if covering and rule is not None and not rule.fixed:
            for ignore in covering:
                ignore.used.add(finding.code)
        else:
            kept.append(finding)
    return kept


def unusable(ignores: Iterable[Ignore]) -> Iterator[Hit]:
    """Comments that cannot be obeyed."""
    example = "write # policyengine: ignore[CODE] reason"
    for ignore in ignores:
        if ignore.malformed:
            yield Hit(ignore.place, "the comment names no rule to ignore", example)
            continue
        for code in ignore.codes:
            rule = BY_CODE.get(code)
            if rule is None:
                hint = did_you_mean(code, BY_CODE) or "`policyengine rules` lists the rules"
                yield Hit(ignore.place, f"there is no rule `{code}` to ignore", hint)
            elif rule.fixed:
                yield Hit(ignore.place, f"`{code}` cannot be ignored", "a bundle with it is not loaded; repair it")
        if not ignore.reason:
            yield Hit(ignore.place, "the comment gives no reason, so that it ignores nothing", example)


def unused(ignores: Iterable[Ignore], ran: set[str]) -> Iterator[Hit]:
    """Comments that ignored nothing, of the rules that `ran`."""
    for ignore in ignores:
        if ignore.malformed or not ignore.reason:
            continue
        idle = [code for code in ignore.codes if code in ran and code not in ignore.used]
        if not idle:
            continue
        names = ", ".join(f"`{code}`" for code in idle)
        whole = len(idle) == len(ignore.codes)
        fix = Fix("remove the comment", (ignore.remove,), safe=True) if whole else None
        yield Hit(ignore.place, f"the comment ignores {names}, which finds nothing here", "remove it", fix)


def _inside_value(offset: int, documents: Sequence[Document]) -> bool:
    return any(_holds(document, (), document.data, offset) for document in documents)


def _holds(document: Document, path: tuple[str | int, ...], value: object, offset: int) -> bool:
    """Whether the character at `offset` belongs to a scalar below `path`."""
    start, end = document.span(path)
    if not start <= offset < end:
        return False
    if isinstance(value, dict):
        return any(_holds(document, (*path, key), item, offset) for key, item in value.items())
    if isinstance(value, list):
        return any(_holds(document, (*path, index), item, offset) for index, item in enumerate(value))
    return document.style(path) is not None


def _past_break(text: str, offset: int) -> int:
    found = re.compile(r"\r\n|\r|\n").match(text, offset)
    return found.end() if found else offset
