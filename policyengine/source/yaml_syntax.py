"""YAML syntax errors in words that help."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from policyengine.source.document import Node

_QUOTES = "'\""


@dataclass(frozen=True, slots=True)
class Problem:
    """A syntax error: offsets into the text, and a message that may name the line of `opened` as `{line}`."""

    start: int
    message: str
    hint: str | None
    opened: int | None = None
    end: int | None = None


def describe(error: Any, text: str, last_scalar: Node | None) -> Problem:
    """What to tell a person about PyYAML's `error`; `last_scalar` is the last scalar that was read whole."""
    at = _index(getattr(error, "problem_mark", None), len(text))
    opened = _index(getattr(error, "context_mark", None), len(text), at)
    problem = str(getattr(error, "problem", None) or "not valid YAML")
    context = str(getattr(error, "context", None) or "")
    if _tab_indents(text, at):
        return Problem(text.rfind("\t", 0, at + 1), "a tab stands where indentation is expected", "indent with spaces")
    if "quoted scalar" in context and ("end of stream" in problem or "document indicator" in problem):
        return Problem(opened, "the quote that opens here is never closed", "close it", end=opened + 1)
    if last_scalar is not None and _suspect(last_scalar, text, at):
        message = "unexpected text after the quoted text that opens on line {line}"
        return Problem(at, message, "close that quote on its own line, or escape the quote inside", last_scalar.start)
    for pattern, message, hint in _WORDINGS:
        if pattern in problem or pattern in context:
            return Problem(at, message.replace("{char}", _shown(text, at)), hint, opened)
    return Problem(at, _plain(problem), None)


# The first that occurs in PyYAML's problem or context wins. `{line}` is where the construct began.
_WORDINGS = (
    ("maximum nesting depth", "values are nested far too deep", "flatten the structure"),
    ("found unexpected ':'", "a `:` stands where none can be", "quote the text, or write a space after `:`"),
    ("mapping keys are not allowed", "`? ` begins a key where none can be", "quote the text"),
    ("URI", "this is not a valid tag", "remove it, or quote text that begins with `!`"),
    (
        "mapping values are not allowed",
        "a `:` stands where no key can be",
        "quote the text if it contains `: `, or put the key on its own line with the right indentation",
    ),
    (
        "found unknown escape character",
        "unknown escape in double quotes",
        "write the backslash twice, or use single quotes",
    ),
    ("did not find expected hexdecimal number", "an escape in double quotes lacks hexadecimal digits", None),
    ("invalid Unicode character escape", "the escape is no Unicode character", "write it as \\UXXXXXXXX"),
    ("cannot start any token", "{char} cannot begin a value", "put the text in quotes"),
    (
        "flow sequence",
        "the list that opens with `[` on line {line} is not continued or closed",
        "add `,` or `]`",
    ),
    (
        "flow mapping",
        "the mapping that opens with `{` on line {line} is not continued or closed",
        "add `,` or `}`",
    ),
    (
        "could not find expected ':'",
        "the key that begins on line {line} is not followed by `:`",
        "write `key: value`",
    ),
    (
        "block mapping",
        "expected a key of the mapping that begins on line {line}, at its indentation",
        "check the indentation, and quote values that contain quotes, `: ` or ` #`",
    ),
    (
        "block collection",
        "expected `- ` of the list that begins on line {line}, at its indentation",
        "check the indentation",
    ),
    (
        "sequence entries are not allowed",
        "a list item `- ` stands where none can be",
        "put it on its own line, or quote the text",
    ),
    (
        "did not find expected <document start>",
        "unexpected text after the end of the document",
        "check the indentation, or begin a new document with `---`",
    ),
    ("indentation indicator", "the indentation digit of a block must be 1 to 9", None),
    (
        "expected a comment or a line break",
        "unexpected text after `|` or `>`",
        "begin the block on the next line",
    ),
    (
        "expected comment or line break",
        "unexpected text after `|` or `>`",
        "begin the block on the next line",
    ),
    ("tab character", "a tab stands where indentation is expected", "indent with spaces"),
    ("incompatible YAML document", "this version of YAML is not known", "remove the %YAML directive"),
    ("undefined tag handle", "custom tags are not allowed", "remove the tag; policies are plain data"),
    ("while scanning a tag", "this is not a valid tag", "remove it, or quote text that begins with `!`"),
    (
        "while scanning an alias",
        "`*` begins an alias, and no name follows",
        "quote text that begins with `*`",
    ),
    (
        "while scanning an anchor",
        "`&` begins an anchor, and no name follows",
        "quote text that begins with `&`",
    ),
    ("directive", "this is not a valid directive", "quote text that begins with `%`"),
    ("node content", "expected a value here", "write the value, or quote it"),
)


def _tab_indents(text: str, at: int) -> bool:
    """Whether a tab stands in the white space before `at` on its line, or at it."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    before = text[begin : at + 1]
    return "\t" in before and not before[:-1].strip("- \t?") and before.strip("- \t?") in ("", before[-1:].strip())


def _suspect(scalar: Node, text: str, at: int) -> bool:
    """Whether a quoted scalar ends right before the error: its closing quote was likely meant otherwise."""
    return (
        scalar.style is not None
        and scalar.style in _QUOTES
        and scalar.style != ""
        and not text[scalar.end : at].strip(" \t")
        and not re.search(r"[\r\n]", text[scalar.end : at])
    )


def _shown(text: str, at: int) -> str:
    return f"`{text[at]}`" if at < len(text) and text[at].isprintable() else "this"


def _plain(problem: str) -> str:
    problem = " ".join(problem.split())
    return f"not valid YAML: {problem[:100]}"


def _index(mark: Any, length: int, default: int = 0) -> int:
    return default if mark is None else max(0, min(int(mark.index), length))
