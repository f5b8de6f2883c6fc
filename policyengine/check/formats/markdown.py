"""Text of others in Markdown: it says what it is, and is neither markup, HTML nor the end of a cell.

As CommonMark and the tables of GitHub have it.
"""

from __future__ import annotations

import re

_MARKUP = re.compile(r"[\\`*_\[\]<>&|~$]")
_FIRST = re.compile(r"^(\s*)([-+#=>]|[0-9]+(?=[.)]))")
_QUOTED = re.compile(r"`([^`\s](?:[^`]*[^`\s])?)`")
_TICKS = re.compile("`+")
_TILDES = re.compile("~+")


def plain(text: str) -> str:
    """Text on one line, as it is."""
    escaped = _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return _FIRST.sub(lambda found: found[1] + _first(found[2]), escaped)


def part(text: str) -> str:
    """A piece of a sentence, with the spaces at its ends."""
    start, inner = len(text) - len(text.lstrip()), text.strip()
    return text[:start] + plain(inner) + text[start + len(inner) :]


def cell(text: str) -> str:
    """A sentence in a cell of a table: what it quotes in backticks is code, and all else is text as it is."""
    pieces = _QUOTED.split(" ".join(text.split()))
    return "".join(cell_code(piece) if at % 2 else part(piece) for at, piece in enumerate(pieces))


def code(text: str) -> str:
    """A code span. What cannot stand in one, line breaks and an end of nothing but spaces, becomes one space."""
    text = " ".join(text.split())
    if not text:
        return ""
    fence = "`" * _beyond(_TICKS, text)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell_code(text: str) -> str:
    """A code span in a cell of a table."""
    return code(text).replace("|", "\\|")


def block(text: str, language: str = "") -> str:
    """A code block, with a fence that the text does not close."""
    fence = "~" * max(3, _beyond(_TILDES, text)) if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}"


def _beyond(runs: re.Pattern[str], text: str) -> int:
    """One more than the longest run of fence characters in a text, or one."""
    return max((len(run) for run in runs.findall(text)), default=0) + 1


def _first(text: str) -> str:
    """What would begin a list, a heading or a quotation at the start of a line."""
    return f"{text}\\" if text[0].isdigit() else f"\\{text}"
