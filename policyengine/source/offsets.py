"""Which source character stands behind each character of a scalar's value.

An expression in a policy may be plain, quoted with escapes, or a literal or folded block. A column inside
the expression has to become a column in the file, so these functions read the scalar's source again, as YAML
does, and keep for each character of the value the offset in the text where it came from.
"""

from __future__ import annotations

import re

_BLANKS = " \t"
_BREAKS = "\r\n"
_BREAK = re.compile(r"\r\n|\r|\n")
_ESCAPES = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}

Origins = list[int]


def origins(text: str, start: int, end: int, style: str, value: str) -> Origins | None:
    """For each character of `value`, and once more for its end, the offset in `text` it came from.

    `start` and `end` delimit the scalar in `text` without its tag and anchor; `style` is `''`, `'`, `"`,
    `|` or `>`. None where the source does not read as `value`.
    """
    if style in ("|", ">"):
        chars, found = _block(text, start, end, style, value)
    else:
        chars, found = _flow(text, start, end, style)
    if chars[: len(value)] != value:
        return None
    return found[: len(value) + 1]


def end_of(text: str, at: int, style: str) -> int:
    """The offset just past the source at `at`, as `origins` gives it, of one character of the value."""
    if style == '"' and text[at] == "\\":
        return at + 2 + _HEX_DIGITS.get(text[at + 1], 0)
    return at + 2 if text.startswith("\r\n", at) or (style == "'" and text.startswith("''", at)) else at + 1


def _flow(text: str, start: int, end: int, style: str) -> tuple[str, Origins]:
    """A plain or quoted scalar, its lines folded."""
    if style:
        start, end = start + 1, end - 1
    chars: list[str] = []
    found: Origins = []
    at = start
    while at < end:
        char = text[at]
        if char in _BLANKS or char in _BREAKS:
            at = _white(text, at, end, chars, found, escaped=False)
        elif style == '"' and char == "\\":
            if text[at + 1] in _BREAKS:
                at = _white(text, at + 1, end, chars, found, escaped=True)
                continue
            letter = text[at + 1]
            width = _HEX_DIGITS.get(letter, 0)
            code = text[at + 2 : at + 2 + width]
            chars.append(chr(int(code, 16)) if width else _ESCAPES.get(letter, ""))
            found.append(at)
            at += 2 + width
        else:
            chars.append(char)
            found.append(at)
            at += 2 if style == "'" and char == "'" else 1
    found.append(end)
    return "".join(chars), found


def _white(text: str, at: int, end: int, chars: list[str], found: Origins, *, escaped: bool) -> int:
    """Read blanks and line breaks from `at` on as YAML folds them; returns the offset after them."""
    first = at
    breaks: list[int] = []
    while at < end and (text[at] in _BLANKS or text[at] in _BREAKS):
        if text[at] in _BREAKS:
            breaks.append(at)
            at += 2 if text.startswith("\r\n", at) else 1
        else:
            at += 1
    if not breaks:
        chars.extend(text[first:at])
        found.extend(range(first, at))
    elif len(breaks) == 1:
        if not escaped:
            chars.append(" ")
            found.append(breaks[0])
    else:
        chars.extend("\n" * (len(breaks) - 1))
        found.extend(breaks[1:])
    return at


def _block(text: str, start: int, end: int, style: str, value: str) -> tuple[str, Origins]:
    """A literal or folded block, read line by line; chomping, which only shortens the end, is not done."""
    lines = _lines(text, start, end)
    indent = _indent([text[begin:stop] for begin, stop in lines], value)
    chars: list[str] = []
    found: Origins = []
    pending: list[int] = []  # line breaks that were read and not yet written
    after_blank = True  # whether the last line with content began with a blank, which stops folding
    for begin, stop in lines:
        if stop - begin <= indent:
            pending.append(stop)
            continue
        begins_blank = text[begin + indent] in _BLANKS
        folds = style == ">" and not after_blank and not begins_blank
        if folds and len(pending) == 1:
            chars.append(" ")
            found.append(pending[0])
        else:
            written = pending[1:] if folds else pending
            chars.extend("\n" * len(written))
            found.extend(written)
        after_blank = begins_blank
        chars.extend(text[begin + indent : stop])
        found.extend(range(begin + indent, stop))
        pending = [stop]
    chars.extend("\n" * len(pending))
    found.extend(pending)
    found.append(lines[-1][1] if lines else end)
    return "".join(chars), found


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each line after the header line of the block that begins at `start`."""
    lines: list[tuple[int, int]] = []
    header = _BREAK.search(text, start)
    at = header.end() if header else end
    while at < end:
        found = _BREAK.search(text, at)
        stop = found.start() if found else len(text)
        lines.append((at, stop))
        at = found.end() if found else len(text)
    return lines


def _indent(lines: list[str], value: str) -> int:
    """How many columns of indentation were taken off, seen from the first line with content in `value`."""
    skipped = len(value) - len(value.lstrip("\n"))
    content = value[skipped:]
    if not content or skipped >= len(lines):
        return max((len(line) for line in lines), default=0)
    line = lines[skipped]
    first = content.split("\n", 1)[0]
    if not line.strip(" "):
        return len(line) - len(first)
    return (len(line) - len(line.lstrip(" "))) - (len(first) - len(first.lstrip(" ")))
