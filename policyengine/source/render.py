"""Findings for people and for programs."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping

from policyengine.source.counts import counted
from policyengine.source.finding import Finding, Severity
from policyengine.source.place import Place
from policyengine.source.secrets import mask_line

# What of a long source line is shown around the place, in characters.
_SHOWN_LINE = 160
_TAB = 4

_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without doubles, by file, place, severity and code."""
    return sorted(
        dict.fromkeys(findings),
        key=lambda finding: (
            finding.place,
            _ORDER[finding.severity],
            finding.code,
            finding.message,
            finding.hint or "",
        ),
    )


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each severity, all three always present."""
    total = {str(severity): 0 for severity in Severity}
    for finding in findings:
        total[str(finding.severity)] += 1
    return total


def render_json(findings: Iterable[Finding]) -> str:
    """The findings as JSON text, in order and without doubles.

        {"findings": [{"code", "severity", "message", "hint",
                       "file", "line", "column", "end_line", "end_column",
                       "fix": {"title", "safe", "edits": [{"file", "line", ..., "text"}]}}],
         "counts": {"error", "warning", "info"}}

    `hint` and `fix` are null where there is none. Lines and columns start at 1; the end is just past the last
    character.
    """
    ordered = in_order(findings)
    return json.dumps(
        {"findings": [_as_json(finding) for finding in ordered], "counts": counts(ordered)},
        ensure_ascii=False,
        indent=2,
    )


def _as_json(finding: Finding) -> dict[str, object]:
    fix = finding.fix
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        **_place_as_json(finding.place),
        "fix": fix
        and {
            "title": fix.title,
            "safe": fix.safe,
            "edits": [{**_place_as_json(edit.place), "text": edit.text} for edit in fix.edits],
        },
    }


def _place_as_json(place: Place) -> dict[str, str | int]:
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def render_text(findings: Iterable[Finding], sources: Mapping[str, str], *, color: bool = False) -> str:
    """The findings as text: each with its source line and a caret, then one line that counts them.

    `sources` maps file names to their text; a finding in another file is shown without its line. What looks
    secret in a source line is covered.
    """
    ordered = in_order(findings)
    lines: list[str] = []
    split: dict[str, list[str]] = {}
    # A line of megabytes may have many findings. A file as a whole has the line 0, and none is shown.
    masked: dict[tuple[str, int], str] = {}
    for finding in ordered:
        file = finding.place.file
        if file not in split:
            split[file] = _lines(sources[file]) if file in sources else []
        where = file, 0 if finding.place.whole else finding.place.line
        if where not in masked:
            masked[where] = mask_line(split[file][where[1] - 1]) if 0 < where[1] <= len(split[file]) else ""
        lines.extend(_block(finding, masked[where], color))
        lines.append("")
    lines.append(_summary(ordered, color))
    return "\n".join(lines)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _block(finding: Finding, source: str, color: bool) -> list[str]:
    """The lines about one finding; `source` is its line, masked, or empty where there is none."""
    place = finding.place
    label = _painted(f"{finding.severity}[{finding.code}]", _COLORS[finding.severity], color)
    lines = [f"{printable(str(place))}: {label}: {printable(finding.message)}"]
    margin = " " * len(str(place.line))
    shown, caret = _excerpt(finding, source)
    if shown.strip():
        lines.append(f"{margin} |")
        lines.append(f"{place.line} | {shown}")
        lines.append(f"{margin} | {_painted(caret, _COLORS[finding.severity], color)}")
    if finding.hint:
        lines.append(f"{margin} = {_painted('hint', '1', color)}: {printable(finding.hint)}")
    if finding.fix:
        option = "--fix" if finding.fix.safe else "--unsafe-fixes"
        title = f"{finding.fix.title} (`{option}` does it)"
        lines.append(f"{margin} = {_painted('fix', '1', color)}: {printable(title)}")
    return lines


def _excerpt(finding: Finding, line: str) -> tuple[str, str]:
    """The source line as shown, and the line with the carets below it."""
    place = finding.place
    start = min(place.column - 1, len(line))
    if place.end_line > place.line:
        end = len(line.rstrip())
    else:
        end = min(place.end_column - 1, len(line))
    first = 0 if start <= _SHOWN_LINE * 3 // 4 else start - _SHOWN_LINE // 2
    before = "…" if first else ""
    after = "…" if len(line) > first + _SHOWN_LINE else ""
    end = max(start + 1, min(end, first + _SHOWN_LINE))
    left = before + printable(line[first:start])
    marked = printable(line[start:end])
    right = printable(line[end : first + _SHOWN_LINE]) + after
    return (left + marked + right).rstrip(), " " * _width(left) + "^" * max(1, _width(marked))


def printable(text: str) -> str:
    """`text` on one line and without characters that a terminal would act on."""
    return "".join(
        char if char.isprintable() else " " * _TAB if char == "\t" else f"\\x{ord(char):02x}" for char in text
    )


_ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """A whole text for a terminal: line breaks, tabs and every script stay, what would move the cursor, write the
    title of the window or turn the direction of writing is shown as its number."""
    return _ACTED_ON.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def _width(text: str) -> int:
    """How many columns a terminal gives to `text`."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _painted(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def tally(findings: Iterable[Finding], *, color: bool = False) -> str:
    """How many findings there are, by severity, those that there are none of left out: 2 errors, 1 warning."""
    total = counts(findings)
    nouns = {
        Severity.ERROR: ("error", "errors"), Severity.WARNING: ("warning", "warnings"), Severity.INFO: ("info", "info")
    }  # fmt: skip
    return ", ".join(
        _painted(counted(total[str(severity)], *called), _COLORS[severity], color)
        for severity, called in nouns.items()
        if total[str(severity)]
    )


def _summary(findings: list[Finding], color: bool) -> str:
    if not findings:
        return _painted("No findings.", "32", color)
    files = len({finding.place.file for finding in findings})
    return f"Found {tally(findings, color=color)} in {counted(files, 'file')}."
